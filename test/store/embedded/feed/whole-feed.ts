import { TEXT_FIELDS, type TextField } from '../../../../query/event-fields.ts';
import type { EventStore, FeedLine, FeedRequest } from '../../../../store/event-store.ts';

/** What a line of the feed says, read without any code of the program. */
export interface FedEvent {
  readonly sequence: bigint;
  readonly zoneId: number;
  readonly timestamp: number;
  readonly ingestedAtMs: number;
  readonly logId: string;
  readonly fields: Readonly<Partial<Record<TextField, string>>>;
  readonly logJson: string;
}

export function fedEvent({ sequence, ingestedAtMs, bytes, start, end }: FeedLine): FedEvent {
  const json = bytes.toString('utf8', start, end);
  const { shieldZoneId, timestamp, logId, log, ...fields } = JSON.parse(json);
  const known = Object.keys(fields).every((name) => TEXT_FIELDS.includes(name as TextField));
  if (!known || typeof log !== 'object' || /[\r\n]/.test(json)) {
    throw new Error(`not a line of the feed: ${json}`);
  }
  const logJson = json.slice(json.indexOf(',"log":') + 7, -1);
  return { sequence, zoneId: shieldZoneId, timestamp, ingestedAtMs, logId, fields, logJson };
}

/** All events of the zones behind a sequence, page by page. */
export async function wholeFeed(
  store: Pick<EventStore, 'readFeed'>,
  { zones = 'all', limit = 7, afterSequence = 0n }: Partial<FeedRequest> = {},
): Promise<FedEvent[]> {
  const events: FedEvent[] = [];
  for (let after = afterSequence; ; ) {
    const page = await store.readFeed({ zones, afterSequence: after, limit });
    if (page.lines.length > limit) {
      throw new Error(`${page.lines.length} events on a page of ${limit}`);
    }
    events.push(...page.lines.map(fedEvent));
    after = page.lastSequence;
    if (!page.more) {
      return events;
    }
  }
}
