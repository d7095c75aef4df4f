import { type MatchSubject, matchSubject } from '../../query/match-event-subject.ts';
import type { EventStore, FeedPage, FeedRequest } from '../../store/event-store.ts';
import { type FeedEvent, readFields } from '../../store/feed-event.ts';
import { cursorText } from '../feed/feed-cursor.ts';
import { droppedFrame, eventData, eventFrame } from './tail-frames.ts';
import type { TailWatcher } from './tail-watcher.ts';
import { TAIL_WORK } from './tail-work.ts';

/** What a page has for a watcher. */
export class WatcherPage {
  readonly frames: Buffer[] = [];
  /** Events among the messages. */
  events = 0;
  /** Events that were not tried, because trying them costs too much. */
  tooCostly = 0;
  #untold = 0;

  add(frame: Buffer): void {
    this.tell();
    this.frames.push(frame);
    this.events += 1;
  }

  leaveOut(): void {
    this.tooCostly += 1;
    this.#untold += 1;
  }

  /** The client is told where it was that events were left out. */
  tell(): void {
    if (this.#untold > 0) this.frames.push(droppedFrame(this.#untold, 'costly'));
    this.#untold = 0;
  }
}

export interface PageReading {
  readonly page: FeedPage;
  readonly store: Pick<EventStore, 'storeId'>;
  /** Whether a watcher that has used its share waits for it somewhere else, instead of losing events. */
  readonly isPaced: boolean;
  /** The share of each watcher, in a second. */
  readonly workPerSecond: number;
}

/**
 * Collects the messages of a page that each of the watchers wants, in their order; a step tries one event on one watcher. Each message is
 * made at most once for watchers whose cursors are the same.
 */
export function* collectFrames(
  watchers: readonly TailWatcher[],
  { page, store, isPaced, workPerSecond }: PageReading,
  pages: Map<TailWatcher, WatcherPage>,
): Generator<void, void> {
  for (const watcher of watchers) pages.set(watcher, new WatcherPage());
  for (const line of page.lines) {
    const event = readFields(line);
    const subject = matchSubject(event.fields);
    let frames: EventFrames | undefined;
    for (const watcher of watchers) {
      if (event.sequence <= watcher.after || !watcher.wants(event.zoneId) || watcher.gone.aborted) continue;
      const its = pages.get(watcher) as WatcherPage;
      const hasWork = isPaced || watcher.work.left(workPerSecond, performance.now()) > 0;
      if (!hasWork || watcher.matcher.maxWork(subject) > TAIL_WORK.perEvent) {
        its.leaveOut();
      } else if (matchesCounted(watcher, subject)) {
        frames ??= eventFrames(event, store);
        its.add(frames(watcher.afterRuns));
      }
      yield;
    }
    yield;
  }
  for (const its of pages.values()) its.tell();
}

function matchesCounted({ matcher, work }: TailWatcher, subject: MatchSubject): boolean {
  subject.work = 1;
  const isMatch = matcher.matches(subject);
  work.spend(subject.work);
  return isMatch;
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

/** All zones that are to be read for these watchers. */
export function zonesOf(watchers: readonly TailWatcher[]): FeedRequest['zones'] {
  const zones = new Set<number>();
  for (const watcher of watchers) {
    if (watcher.zones === 'all') return 'all';
    for (const zone of watcher.zones) zones.add(zone);
  }
  return [...zones];
}
