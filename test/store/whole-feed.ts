import type { EventStore, FeedEvent, FeedRequest } from '../../store/event-store.ts';

/** All events of the zones behind a sequence, page by page. */
export async function wholeFeed(
  store: Pick<EventStore, 'readFeed'>,
  { zones = 'all', limit = 7, afterSequence = 0n }: Partial<FeedRequest> = {},
): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let after = afterSequence; ; ) {
    const page = await store.readFeed({ zones, afterSequence: after, limit });
    if (page.events.length > limit) {
      throw new Error(`${page.events.length} events on a page of ${limit}`);
    }
    events.push(...page.events);
    after = page.lastSequence;
    if (!page.more) {
      return events;
    }
  }
}
