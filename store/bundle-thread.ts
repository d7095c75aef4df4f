import { writeBundleFile } from './bundle-file.ts';

// What the thread of `bundle-writer.ts` does.
export default writeBundleFile;
