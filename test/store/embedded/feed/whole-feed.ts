import { TEXT_FIELDS, type TextField } from '../../../../query/event-fields.ts';
import type { EventStore, FeedLine, FeedRequest } from '../../../../store/event-store.ts';

/** The content of a line of the feed, read without any code of the program. */
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

/** Reads all events of the zones behind a position, page by page; from the oldest one where no position is given. */
export async function wholeFeed(
  store: Pick<EventStore, 'readFeed' | 'positions'>,
  { zones = 'all', limit = 7, after }: Partial<FeedRequest> = {},
): Promise<FedEvent[]> {
  const events: FedEvent[] = [];
  for (let position = after ?? (await store.positions.oldest()); ; ) {
    const page = await store.readFeed({ zones, after: position, limit });
    if (page.lines.length > limit) {
      throw new Error(`${page.lines.length} events on a page of ${limit}`);
    }
    events.push(...page.lines.map(fedEvent));
    position = page.end;
    if (!page.more) {
      return events;
    }
  }
}
