import { type MatchSubject, matchSubject } from '../../query/match-event-subject.ts';
import type { EventStore, FeedPage, FeedRequest } from '../../store/event-store.ts';
import { type FeedEvent, readFields } from '../../store/feed-event.ts';
import { cursorText } from '../feed/feed-cursor.ts';
import { eventData, eventFrame } from './tail-frames.ts';
import type { TailWatcher } from './tail-watcher.ts';

/** The messages of a page that each of the watchers wants, in their order. Each is made at most once for watchers whose cursors are the same. */
export function framesFor(
  watchers: readonly TailWatcher[],
  page: FeedPage,
  store: Pick<EventStore, 'storeId'>,
): ReadonlyMap<TailWatcher, readonly Buffer[]> {
  const framesOf = new Map<TailWatcher, Buffer[]>();
  for (const line of page.lines) {
    const event = readFields(line);
    const subject = matchSubject(event.fields);
    let frames: EventFrames | undefined;
    for (const watcher of watchers) {
      if (!isWanted(watcher, event, subject)) continue;
      frames ??= eventFrames(event, store);
      const frame = frames(watcher.afterRuns);
      const before = framesOf.get(watcher);
      if (before === undefined) framesOf.set(watcher, [frame]);
      else before.push(frame);
    }
  }
  return framesOf;
}

type EventFrames = (afterRuns: number) => Buffer;

/** The messages of an event: the cursor in it depends on when its reader began. */
function eventFrames(event: FeedEvent, store: Pick<EventStore, 'storeId'>): EventFrames {
  const data = eventData(event);
  const made = new Map<number, Buffer>();
  return (afterRuns) => {
    const known = made.get(afterRuns);
    if (known !== undefined) return known;
    const frame = eventFrame(data, cursorText({ sequence: event.sequence, afterRuns }, store));
    made.set(afterRuns, frame);
    return frame;
  };
}

function isWanted(watcher: TailWatcher, event: FeedEvent, subject: MatchSubject): boolean {
  return event.sequence > watcher.after && watcher.wants(event.zoneId) && watcher.matches(subject);
}

/** All zones that are to be read for these watchers. */
export function zonesOf(watchers: readonly TailWatcher[]): FeedRequest['zones'] {
  const zones = new Set<number>();
  for (const watcher of watchers) {
    if (watcher.zones === 'all') return 'all';
    for (const zone of watcher.zones) zones.add(zone);
  }
  return [...zones];
}
