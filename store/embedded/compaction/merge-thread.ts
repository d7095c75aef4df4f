import { workerData } from 'piscina';
import { startEngine, statementsOnThisThread } from '../duckdb/duckdb-engine.ts';
import { yieldToOtherThreads } from '../runtime/thread-priority.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';
import type { MergeThreadOptions } from './merge-writer.ts';
import { type MergeOrder, writeMerged } from './merged-segments.ts';

// What the thread of `merge-writer.ts` does. Searches come first: whoever asks is waiting.
yieldToOtherThreads();

const { stop, ...options } = workerData as MergeThreadOptions;
const engine = await startEngine({ ...options, threads: 1 });
const runner = statementsOnThisThread(await engine.connect(), () => Atomics.load(stop, 0) !== 0);

export default (order: MergeOrder): Promise<UnpublishedSegment[]> => writeMerged(order, runner);
