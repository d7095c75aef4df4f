import type { LongLines } from '../../feed/line-limit.ts';
import { type FeedPatience, type RetryOptions, untilDone } from '../../sinks/feed-retry.ts';
import { appendRejected } from '../../sinks/rejected-file.ts';
import { DeliveryError, deliveredWhole, type RefusedEvent, type Sink } from '../../sinks/sink.ts';
import { type CursorMoved, type FeedClientOptions, type ReadPage, readFeedPage } from './feed-client.ts';
import type { FeedOptions } from './feed-options.ts';
import type { FeedState, FeedStateFile } from './feed-state.ts';

export interface FeedLoopOptions extends Pick<FeedOptions, 'rejectedFile' | 'fromNow' | 'once' | 'limit' | 'waitSeconds'> {
  readonly reader: FeedClientOptions;
  readonly sink: Sink;
  readonly stateFile: FeedStateFile;
  /** The current state, which may be newer than the one in `stateFile`, because the sink records positions. */
  readonly state: FeedState;
  /** Aborted: the batch under way is the last. */
  readonly stopping: AbortSignal;
  /** Aborted some time after `stopping`: the batch under way is given up too. */
  readonly givenUp: AbortSignal;
  readonly retry: RetryOptions;
  readonly patience: FeedPatience;
  /** Shows a message to people. */
  readonly tell: (message: string) => void;
}

/** What became of the events of a batch, in numbers, and how many of them had long lines. */
export interface FeedCounts extends LongLines {
  readonly delivered: number;
  /** Of those delivered, what the receiver does not keep because it is past its retention. */
  readonly expired: number;
  /** Appended to the file of rejected events. */
  readonly rejected: number;
}

/** `done`: no more events, with `once`. `stopped`: by a signal. `closed`: the reader of the output has gone. */
export type FeedOutcome = 'done' | 'stopped' | 'closed';

/** The pause between two requests that do not wait in the program. */
const IDLE_MS = 1_000;

function tellMoved({ kind, goesOnWith, reason }: CursorMoved, tell: (message: string) => void): void {
  const why = reason === '' ? '' : ` (${reason})`;
  const from = goesOnWith === null ? '' : ` (cursor ${goesOnWith})`;
  if (kind === 'ahead') {
    tell(`THE FEED HAS GONE BACK: the program does not have all events that were delivered${why}`);
    tell(`going on from where it says${from}, so that nothing that came since is left out; events may come again`);
    return;
  }
  tell(`EVENTS WERE MISSED: they expired before they were read${why}`);
  tell(`going on from the oldest event there is${from}; run the feed without long pauses, or raise RETENTION_HOURS`);
}

/** Whether an error only says that a signal was aborted; Node's own waits reject with an AbortError. */
export function isStop(error: unknown, signals: readonly AbortSignal[]): boolean {
  if (signals.some(({ aborted, reason }) => aborted && reason === error)) return true;
  return signals.some(({ aborted }) => aborted) && error instanceof Error && error.name === 'AbortError';
}

/**
 * Throws DeliveryError `refused` where an answer covers zones that the answers up to the cursor did not: their events before the cursor
 * would be left out. `before` and `now` are `all` or zone ids with commas between; null: unknown.
 */
function refuseNewZones(before: string | null, now: string | null, statePath: string): void {
  if (before === null || now === null || before === 'all') return;
  const covered = new Set(before.split(','));
  const added = now === 'all' ? ['every zone'] : now.split(',').filter((zone) => !covered.has(zone));
  if (added.length === 0) return;
  const advice = `name another state with --state, or remove ${statePath}, to begin with the oldest events of all of them`;
  throw new DeliveryError(
    'refused',
    `the key opens more zones than before (${added.join(',')}), whose older events would be left out; ${advice}`,
  );
}

/**
 * Reads page after page, and saves the cursor of each once the sink has accepted it: a crash loses no event, and at most one batch is
 * delivered again. Throws DeliveryError where a retry cannot help.
 */
export async function runFeed(options: FeedLoopOptions, passedOn: (counts: FeedCounts) => void): Promise<FeedOutcome> {
  const { reader, sink, stateFile, rejectedFile, once, stopping, givenUp, retry, patience, tell } = options;
  let { cursor, position, zones } = options.state;
  let { limit } = options;
  const waitSeconds = once ? 0 : options.waitSeconds;
  /** The start of the feed while there is no cursor. */
  let beginning = options.fromNow ? 'now' : null;

  /** Halves `limit` for good where a page is too large for the memory. */
  async function read(from: string | null): Promise<ReadPage | CursorMoved> {
    try {
      // The first request from `now` does not wait, so that the cursor is saved before events come, and a crash loses none of them.
      return await readFeedPage(reader, { cursor: from, limit, waitSeconds: from === 'now' ? 0 : waitSeconds, signal: stopping });
    } catch (error) {
      if (!(error instanceof DeliveryError && error.code === 'oversized') || limit === 1) throw error;
      limit = Math.ceil(limit / 2);
      tell(`${error.message}; going on with ${limit} events at a time`);
      return read(from);
    }
  }

  const save = async (next: FeedState): Promise<void> => {
    if (next.cursor === cursor && next.position === position) return;
    await patience.during(`the state file ${stateFile.path}`, () => untilDone(() => stateFile.save(next), retry));
    ({ cursor, position, zones } = next);
  };

  async function goOnElsewhere(answer: CursorMoved): Promise<void> {
    if (answer.goesOnWith !== null && answer.goesOnWith === cursor) {
      throw new DeliveryError('refused', `the feed refuses the cursor that it gave itself to go on with: ${cursor}`);
    }
    tellMoved(answer, tell);
    beginning = null;
    await save({ cursor: answer.goesOnWith, position, zones });
  }

  /** Puts refused events on disk before the cursor moves past them. */
  async function setAside(refused: readonly RefusedEvent[]): Promise<void> {
    const [first] = refused;
    if (first === undefined) return;
    if (rejectedFile === null) throw new Error(`${sink.name} returned refused events that nothing takes`);
    const lines = refused.map(({ line }) => line);
    await patience.during(`the file ${rejectedFile}`, () => untilDone(() => appendRejected(rejectedFile, lines), retry));
    tell(`${refused.length} events were refused and are in ${rejectedFile}, the first because of: ${first.reason}`);
  }

  async function passOn({ batch, cursor: next, incomplete, longLines, zones: covered }: ReadPage): Promise<void> {
    refuseNewZones(cursor === null ? null : zones, covered, stateFile.path);
    const deliver = () => patience.during(sink.name, () => untilDone(() => sink.deliver(batch, givenUp), retry));
    const { position: reached, refused, expired } = batch.count === 0 ? deliveredWhole(position) : await deliver();
    await setAside(refused);
    await save({ cursor: next, position: reached, zones: covered ?? zones });
    passedOn({ delivered: batch.count - refused.length, expired, rejected: refused.length, ...longLines });
    if (incomplete > 0) tell(`up to ${incomplete} events are left out, because files of the program are damaged or missing`);
  }

  async function run(): Promise<FeedOutcome> {
    while (!stopping.aborted) {
      const from = cursor ?? beginning;
      const page = await patience.during(`the feed of ${reader.url.href}`, () => untilDone(() => read(from), retry));
      if (page.kind !== 'page') {
        await goOnElsewhere(page);
        continue;
      }
      await passOn(page);
      if (page.more) continue;
      if (once) return 'done';
      if (waitSeconds === 0) await retry.pause(IDLE_MS, stopping);
    }
    return 'stopped';
  }

  try {
    return await run();
  } catch (error) {
    if (error instanceof DeliveryError && error.code === 'closed') return 'closed';
    if (isStop(error, [stopping, givenUp])) return 'stopped';
    throw error;
  }
}
