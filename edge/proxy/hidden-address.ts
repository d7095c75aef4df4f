import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { UpstreamFault } from './upstream-failure.ts';

type Decompress = (
  bytes: Uint8Array,
  options: { readonly info: true; readonly maxOutputLength: number },
) => Promise<{ readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }>;

interface Coding {
  readonly decompress: Decompress;
  /** A header tells a further stream from other bytes, so that several may stand behind one another. */
  readonly hasHeader: boolean;
}

const GZIP: Coding = { decompress: promisify(gunzip) as unknown as Decompress, hasHeader: true };
const ZSTD: Coding = { decompress: promisify(zstdDecompress) as unknown as Decompress, hasHeader: true };
const ZLIB: Coding = { decompress: promisify(inflate) as unknown as Decompress, hasHeader: true };
const RAW_DEFLATE: Coding = { decompress: promisify(inflateRaw) as unknown as Decompress, hasHeader: false };
const BROTLI: Coding = { decompress: promisify(brotliDecompress) as unknown as Decompress, hasHeader: false };

function codingOf(name: string, bytes: Uint8Array): Coding {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return GZIP;
    case 'zstd':
      return ZSTD;
    case 'br':
      return BROTLI;
    case 'deflate':
      // Some servers send it without the zlib header that RFC 9110 asks for, whose first byte has the method 8.
      return (bytes[0] ?? 0) % 16 === 8 ? ZLIB : RAW_DEFLATE;
    default:
      throw new UpstreamFault('UPSTREAM_UNUSABLE', "The upstream's answer has a content encoding that cannot be read here");
  }
}

interface DecompressOptions {
  readonly maxBytes: number;
  /** Decompressing ends where the caller has gone. */
  readonly hungUp: AbortSignal;
}

/** Decompresses all members or frames. Node's functions read one, and drop without a word what is behind it. */
async function allDecompressed(body: Buffer, coding: Coding, { maxBytes, hungUp }: DecompressOptions): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let room = maxBytes;
  let rest = body;
  do {
    hungUp.throwIfAborted();
    const { buffer, engine } = await coding.decompress(rest, { info: true, maxOutputLength: Math.max(1, room) });
    room -= buffer.length;
    if (room < 0) throw Object.assign(new Error('too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
    pieces.push(buffer);
    let end = engine.bytesWritten;
    // gzip may be padded with NULs.
    while (coding === GZIP && rest[end] === 0) end += 1;
    rest = rest.subarray(end);
  } while (rest.length > 0 && coding.hasHeader);
  if (rest.length > 0) throw new Error(`${rest.length} bytes behind the end`);
  return Buffer.concat(pieces);
}

/** Undoes the encodings of a Content-Encoding header. Rejects with UpstreamFault where that is not possible within `maxBytes`. */
async function decompressed(body: Buffer, encoding: string, options: DecompressOptions): Promise<Buffer> {
  const names = encoding.split(',').map((name) => name.trim().toLowerCase());
  let bytes = body;
  for (const name of names.toReversed()) {
    if (name === 'identity' || name === '') continue;
    const coding = codingOf(name, bytes);
    try {
      bytes = await allDecompressed(bytes, coding, options);
    } catch (cause) {
      if (options.hungUp.aborted) throw cause;
      const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      const why = isTooLarge ? `is larger than ${options.maxBytes} bytes` : 'is damaged';
      throw new UpstreamFault('UPSTREAM_UNUSABLE', `The upstream's answer ${why} once it is decompressed`, { cause });
    }
  }
  return bytes;
}

/** A character of a member's name as JSON may write it. Readers in Go ignore its case. */
function characterPattern(character: string): string {
  const codes = [character.toLowerCase(), character.toUpperCase()].map((each) => each.charCodeAt(0).toString(16).padStart(4, '0'));
  return `(?:${character}|${[...new Set(codes)].map((code) => `\\\\u${code}`).join('|')})`;
}

/** Finds a member of JSON text by its name, with a value that is a text. A quote after a backslash is inside a text. */
function memberPattern(name: string): RegExp {
  const key = [...name].map(characterPattern).join('');
  return new RegExp(`(?<!\\\\)("${key}"[ \\t\\n\\r]*:[ \\t\\n\\r]*)"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"`, 'gi');
}

/** An answer without the address that it named. */
interface HiddenAnswer {
  readonly body: Buffer;
  /** Null: the body is not compressed. */
  readonly encoding: string | null;
}

interface HideOptions extends DecompressOptions {
  /** The name of the member. */
  readonly member: string;
  readonly encoding: string | null;
}

/**
 * Makes null of a member of a JSON answer that names the upstream's address: the client would go on there, with the caller's key. All other
 * bytes stay, and so does an answer without an address. Rejects with UpstreamFault for an answer whose encoding hides what is in it.
 */
export async function hideAddress(body: Buffer, { member, encoding, ...options }: HideOptions): Promise<HiddenAnswer> {
  if (body.length === 0) return { body, encoding };
  const plain = encoding === null ? body : await decompressed(body, encoding, options);
  // One character is one byte, so that bytes that are not UTF-8 stay, too.
  const text = plain.toString('latin1');
  const hidden = text.replace(memberPattern(member), '$1null');
  return hidden === text ? { body, encoding } : { body: Buffer.from(hidden, 'latin1'), encoding: null };
}
