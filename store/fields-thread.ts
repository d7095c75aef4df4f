import { flushJournals, type JournalsOrder } from './flush-journals.ts';
import type { FlushedFields } from './flushed-fields.ts';
import { SegmentKernel } from './segment-kernel.ts';
import { yieldToOtherThreads } from './thread-priority.ts';

// What the thread of `fields-writer.ts` does. Searches come first: whoever asks is waiting.
yieldToOtherThreads();

const kernel = new SegmentKernel();

export default (order: JournalsOrder): Promise<FlushedFields> => flushJournals(order, kernel);
