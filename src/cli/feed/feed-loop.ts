import { DeliveryError } from '../../sinks/delivery-error.ts';
import type { Sink } from '../../sinks/sink.ts';
import { refuseNewZones } from './feed-coverage.ts';
import type { FeedPatience } from './feed-patience.ts';
import { type CursorTooOld, type FeedReaderOptions, type ReadPage, readFeedPage } from './feed-reader.ts';
import { type RetryOptions, untilDone } from './feed-retry.ts';
import type { FeedState, FeedStateFile } from './feed-state.ts';

export interface FeedLoopOptions {
  readonly reader: FeedReaderOptions;
  readonly sink: Sink;
  readonly stateFile: FeedStateFile;
  /** The state as it is now; the sink may have recorded another position since it was found. */
  readonly state: FeedState;
  /** Where there is no cursor yet, begin with what comes next. */
  readonly fromNow: boolean;
  /** Ends when there is nothing more. */
  readonly once: boolean;
  /** Events in a batch at most. */
  readonly limit: number;
  readonly waitSeconds: number;
  /** Aborted: nothing more is read, and the batch under way is the last. */
  readonly stopping: AbortSignal;
  /** Aborted some time after that: the batch under way is given up too. */
  readonly givenUp: AbortSignal;
  readonly retry: RetryOptions;
  readonly patience: FeedPatience;
  /** Takes messages for people. */
  readonly tell: (message: string) => void;
}

/** `done`: nothing more, and that was asked for. `stopped`: by a signal. `closed`: the reader of the output has gone. */
export type FeedOutcome = 'done' | 'stopped' | 'closed';

/** Between two questions where the program is not asked to wait. */
const IDLE_MS = 1_000;

function tellTooOld({ oldest, reason }: CursorTooOld, tell: (message: string) => void): void {
  tell(`EVENTS WERE MISSED: the retention dropped them before they were read${reason === '' ? '' : ` (${reason})`}`);
  tell(
    `going on from the oldest event there is${oldest === null ? '' : ` (cursor ${oldest})`}; run the feed without long pauses, or raise RETENTION_HOURS`,
  );
}

/** Whether the error is nothing but the signals' way through what was waited for; Node's own waits reject with an AbortError. */
function isStop(error: unknown, signals: readonly AbortSignal[]): boolean {
  if (signals.some(({ aborted, reason }) => aborted && reason === error)) return true;
  return signals.some(({ aborted }) => aborted) && error instanceof Error && error.name === 'AbortError';
}

/**
 * Reads pages and has the sink accept each before the cursor is saved and the next one is read: whatever dies in between, no event is lost,
 * and only the batch under way is delivered again. Throws DeliveryError for what cannot heal.
 */
export async function runFeed(options: FeedLoopOptions, delivered: (count: number) => void): Promise<FeedOutcome> {
  const { reader, sink, stateFile, once, stopping, givenUp, retry, patience, tell } = options;
  let { cursor, position, zones } = options.state;
  let { limit } = options;
  const waitSeconds = once ? 0 : options.waitSeconds;
  /** Where to read from while there is no cursor. */
  let beginning = options.fromNow ? 'now' : null;

  /** Events may be large: where a page is too long to be held, the pages from then on are half as long. */
  async function read(from: string | null): Promise<ReadPage | CursorTooOld> {
    try {
      // Whoever begins with what is to come waits only after the place is saved: nothing that comes meanwhile is lost when either side
      // dies.
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

  async function goOnFromOldest(answer: CursorTooOld): Promise<void> {
    if (answer.oldest !== null && answer.oldest === cursor) {
      throw new DeliveryError('refused', `the feed says of its own oldest cursor that it is too old: ${cursor}`);
    }
    tellTooOld(answer, tell);
    beginning = null;
    await save({ cursor: answer.oldest, position, zones });
  }

  async function passOn({ batch, cursor: next, zones: covered }: ReadPage): Promise<void> {
    refuseNewZones(cursor === null ? null : zones, covered, stateFile.path);
    const deliver = () => patience.during(sink.name, () => untilDone(() => sink.deliver(batch, givenUp), retry));
    const reached = batch.count === 0 ? position : await deliver();
    await save({ cursor: next, position: reached, zones: covered ?? zones });
    delivered(batch.count);
  }

  async function run(): Promise<FeedOutcome> {
    while (!stopping.aborted) {
      const from = cursor ?? beginning;
      const page = await patience.during(`the feed of ${reader.url.href}`, () => untilDone(() => read(from), retry));
      if (page.kind === 'too_old') {
        await goOnFromOldest(page);
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
