import type { IntakeCounts, IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { type RetryOptions, untilDone } from '../../sinks/feed-retry.ts';
import { isStop } from '../feed/feed-loop.ts';
import { addedCounts, NO_EVENTS } from './intake-counts.ts';
import type { LineBatch, LineSource } from './line-batch.ts';
import { UploadFailed } from './upload-events.ts';

export interface FollowOptions {
  readonly sources: readonly LineSource[];
  /** Sends lines; resolves when they are durable. Throws UploadFailed, or the signal's reason. */
  readonly upload: (batch: LineBatch, signal: AbortSignal) => Promise<IntakeReport>;
  /** Called with what became of each batch. */
  readonly onReport: (source: LineSource, batch: LineBatch, report: IntakeReport) => void;
  /** Aborted: what is complete by then is sent, and nothing is waited for. */
  readonly stopping: AbortSignal;
  /** Aborted some time after `stopping`: the upload under way is given up. */
  readonly givenUp: AbortSignal;
  readonly retry: RetryOptions;
}

/** How often a source is asked for more, while it has none. */
const POLL_MS = 500;

/**
 * Sends the lines of all sources as they come, one upload at a time, until `stopping` or until every source is done. Resolves with what
 * became of the events of each. Throws DeliveryError or CommandFailed where a retry cannot help.
 */
export async function followLines(options: FollowOptions): Promise<ReadonlyMap<LineSource, IntakeCounts>> {
  const { sources, stopping, givenUp, retry } = options;
  const counts = new Map(sources.map((source) => [source, NO_EVENTS]));
  const count: Count = (source, report) => void counts.set(source, addedCounts(counts.get(source) ?? NO_EVENTS, report));
  const looking = lookOnAndOn(sources, stopping, retry);
  try {
    while (!stopping.aborted && !sources.every(({ isDone }) => isDone)) {
      const hasSent = await sendFromAll(options, count);
      if (!hasSent) await retry.pause(POLL_MS, stopping);
    }
  } catch (error) {
    if (!isStop(error, [stopping, givenUp])) throw error;
  }
  await sendTheRest(options, count);
  await looking;
  return counts;
}

/** Looks at the sources also while an upload waits for the program. What goes wrong is thrown by `next`, which looks too. */
async function lookOnAndOn(sources: readonly LineSource[], stopping: AbortSignal, { pause }: RetryOptions): Promise<void> {
  while (!stopping.aborted && !sources.every(({ isDone }) => isDone)) {
    await Promise.allSettled(sources.map((source) => source.look()));
    await pause(POLL_MS, stopping).catch(() => undefined);
  }
}

/** Sends what has come up to the end, unless the program cannot take it now. */
async function sendTheRest(options: FollowOptions, count: Count): Promise<void> {
  try {
    while (await sendFromAll(options, count)) {
      // Until no source has any.
    }
  } catch (error) {
    if (!isStop(error, [options.stopping, options.givenUp])) throw error;
  }
}

type Count = (source: LineSource, report: IntakeReport) => void;

/** Sends a batch of each source that has one, so that a long file does not keep the others waiting. Resolves with whether any had one. */
async function sendFromAll(options: FollowOptions, count: Count): Promise<boolean> {
  let hasSent = false;
  for (const source of options.sources) {
    const batch = await untilDone(() => source.next(), options.retry);
    if (batch === null) continue;
    const report = await sendOrLookAgain(batch, options);
    if (report === null) continue;
    hasSent = true;
    // Told before the state is written, because the program has the events already.
    options.onReport(source, batch, report);
    count(source, report);
    await untilDone(() => source.accepted(), options.retry);
  }
  return hasSent;
}

/** Sends a batch. Resolves with null where its file was changed before all of it was read: the source finds that at its next look. */
async function sendOrLookAgain(batch: LineBatch, { upload, givenUp, retry }: FollowOptions): Promise<IntakeReport | null> {
  try {
    return await untilDone(() => upload(batch, givenUp), retry);
  } catch (error) {
    if (error instanceof UploadFailed && error.fault === 'unreadable') return null;
    throw error;
  }
}
