import { writeBundleFile } from './bundle-file.ts';
import { yieldToOtherThreads } from './thread-priority.ts';

// What the thread of `bundle-writer.ts` does. Searches come first: whoever asks is waiting.
yieldToOtherThreads();

export default writeBundleFile;
