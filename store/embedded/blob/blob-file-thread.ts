import { yieldToOtherThreads } from '../runtime/thread-priority.ts';
import { writeBlobFile } from './write-blob-file.ts';

// What the thread of `blob-file-writer.ts` does. Searches come first: whoever asks is waiting.
yieldToOtherThreads();

export default writeBlobFile;
