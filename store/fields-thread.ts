import type { SealedFields } from './sealed-fields.ts';
import { type JournalsOrder, sealJournals } from './sealed-journals.ts';
import { SegmentKernel } from './segment-kernel.ts';
import { yieldToOtherThreads } from './thread-priority.ts';

// What the thread of `fields-writer.ts` does. Searches come first: whoever asks is waiting.
yieldToOtherThreads();

const kernel = new SegmentKernel();

export default (order: JournalsOrder): Promise<SealedFields> => sealJournals(order, kernel);
