import { SegmentKernel } from '../parquet/segment-kernel.ts';
import { yieldToOtherThreads } from '../runtime/thread-priority.ts';
import { flushJournals, type JournalsOrder } from './flush-journals.ts';
import type { FlushedFields } from './flushed-fields.ts';

// What the thread of `fields-writer.ts` does. Searches come first: whoever asks is waiting.
yieldToOtherThreads();

const kernel = new SegmentKernel();

export default (order: JournalsOrder): Promise<FlushedFields> => flushJournals(order, kernel);
