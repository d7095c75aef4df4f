import { type MatchSubject, matchSubject } from '../../query/match/match-event.ts';
import type { FeedPage, FeedPositions } from '../../store/event-store.ts';
import { type FeedEvent, readFields } from '../../store/feed-event.ts';
import { droppedFrame, eventData, eventFrame } from './tail-frames.ts';
import { TAIL_WORK } from './tail-limits.ts';
import type { TailWatcher } from './tail-watcher.ts';

/** The messages of a page for one watcher. */
export class WatcherPage {
  readonly frames: Buffer[] = [];
  /** Events among the messages. */
  events = 0;
  /** Events that were left out unmatched, because matching them costs too much. */
  tooCostly = 0;
  #unreported = 0;

  add(frame: Buffer): void {
    this.reportLeftOut();
    this.frames.push(frame);
    this.events += 1;
  }

  leaveOut(): void {
    this.tooCostly += 1;
    this.#unreported += 1;
  }

  /** Adds the message about events left out since the last message, so that the client sees between which events they were. */
  reportLeftOut(): void {
    if (this.#unreported > 0) this.frames.push(droppedFrame(this.#unreported, 'costly'));
    this.#unreported = 0;
  }
}

export interface PageReading {
  readonly page: FeedPage;
  readonly positions: FeedPositions;
  /** Whether a watcher that has used up its share waits for more after the page, instead of losing events of it. */
  readonly isPaced: boolean;
  /** The share of each watcher, in characters that matching looks through in a second. */
  readonly workPerSecond: number;
}

/**
 * Collects for each watcher the messages of the page's events that it wants, in the page's order. A step matches one event for one watcher.
 * Watchers with the same cursor share a message.
 */
export function* collectFrames(
  watchers: readonly TailWatcher[],
  { page, positions, isPaced, workPerSecond }: PageReading,
  pages: Map<TailWatcher, WatcherPage>,
): Generator<void, void> {
  for (const watcher of watchers) pages.set(watcher, new WatcherPage());
  for (const line of page.lines) {
    const event = readFields(line);
    const subject = matchSubject(event.fields);
    let frames: EventFrames | undefined;
    for (const watcher of watchers) {
      if (positions.compare(event, watcher.position) <= 0 || !watcher.wants(event.zoneId) || watcher.gone.aborted) continue;
      const watcherPage = pages.get(watcher) as WatcherPage;
      const hasWork = isPaced || watcher.work.left(workPerSecond, performance.now()) > 0;
      if (!hasWork || watcher.matcher.maxWork(subject) > TAIL_WORK.perEvent) {
        watcherPage.leaveOut();
      } else if (matchesCounted(watcher, subject)) {
        frames ??= eventFrames(event);
        watcherPage.add(frames(positions.encode(positions.advance(watcher.position, event))));
      }
      yield;
    }
    yield;
  }
  for (const watcherPage of pages.values()) watcherPage.reportLeftOut();
}

function matchesCounted({ matcher, work }: TailWatcher, subject: MatchSubject): boolean {
  subject.work = 1;
  const isMatch = matcher.matches(subject);
  work.spend(subject.work);
  return isMatch;
}

type EventFrames = (cursor: string) => Buffer;

/** Returns the messages of an event by cursor. Cursors differ, because each depends on where its reader began. */
function eventFrames(event: FeedEvent): EventFrames {
  const data = eventData(event);
  const frames = new Map<string, Buffer>();
  return (cursor) => {
    const frame = frames.get(cursor) ?? eventFrame(data, cursor);
    frames.set(cursor, frame);
    return frame;
  };
}
