import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import Negotiator from 'negotiator';
import { RequestProblem } from './problem.ts';

const ENCODINGS = ['zstd', 'gzip', 'identity'] as const;
export type ContentEncoding = (typeof ENCODINGS)[number];

/** What an `Accept-Encoding` header likes best; `identity` without one. Throws RequestProblem `accept.none` when it takes none. */
export function negotiateEncoding(header: string | undefined): ContentEncoding {
  const best = new Negotiator({ headers: { 'accept-encoding': header } }).encoding([...ENCODINGS]);
  const found = ENCODINGS.find((encoding) => encoding === best);
  if (found !== undefined) return found;
  throw new RequestProblem('accept.none', `Accept-Encoding: ${header} takes none of ${ENCODINGS.join(', ')}`);
}

/** Speed counts more than the last tenth of size: the feed and the export are read as fast as they can be written. */
const COMPRESSORS: Readonly<Record<Exclude<ContentEncoding, 'identity'>, () => Transform>> = {
  gzip: () => createGzip({ level: 1 }),
  zstd: () => createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
};

/** The stream in an encoding. An error of either side ends both. */
export function encodeStream(source: Readable, encoding: ContentEncoding): Readable {
  if (encoding === 'identity') return source;
  // Whoever reads the result is told of the error by that.
  return pipeline(source, COMPRESSORS[encoding](), () => undefined);
}
