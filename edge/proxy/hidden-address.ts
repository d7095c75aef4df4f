import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { UpstreamUnusable } from './upstream-failure.ts';

type Decompress = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const inflated = promisify(inflate) as Decompress;
const rawInflated = promisify(inflateRaw) as Decompress;

/** Some servers send `deflate` without the zlib header that RFC 9110 asks for, whose first byte has the method 8. */
const eitherInflated: Decompress = (bytes, options) => ((bytes[0] ?? 0) % 16 === 8 ? inflated : rawInflated)(bytes, options);

const DECOMPRESSIONS: Readonly<Record<string, Decompress>> = {
  gzip: promisify(gunzip) as Decompress,
  'x-gzip': promisify(gunzip) as Decompress,
  deflate: eitherInflated,
  br: promisify(brotliDecompress) as Decompress,
  zstd: promisify(zstdDecompress) as Decompress,
};

/** Undoes the encodings of a Content-Encoding header. Rejects with UpstreamUnusable where that is not possible within `maxBytes`. */
async function decompressed(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const names = encoding.split(',').map((name) => name.trim().toLowerCase());
  let bytes = body;
  for (const name of names.toReversed()) {
    if (name === 'identity' || name === '') continue;
    const decompress = Object.hasOwn(DECOMPRESSIONS, name) ? DECOMPRESSIONS[name] : undefined;
    if (decompress === undefined) throw new UpstreamUnusable("The upstream's answer has a content encoding that cannot be read here");
    try {
      bytes = await decompress(bytes, { maxOutputLength: maxBytes });
    } catch (cause) {
      const why = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? `is larger than ${maxBytes} bytes` : 'is damaged';
      throw new UpstreamUnusable(`The upstream's answer ${why} once it is decompressed`, { cause });
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

interface HideOptions {
  /** The name of the member. */
  readonly member: string;
  readonly encoding: string | null;
  readonly maxBytes: number;
}

/**
 * Makes null of a member of a JSON answer that names the upstream's address: the client would go on there, with the caller's key. All other
 * bytes stay, and so does an answer without an address. Rejects with UpstreamUnusable for an answer whose encoding hides what is in it.
 */
export async function hideAddress(body: Buffer, { member, encoding, maxBytes }: HideOptions): Promise<HiddenAnswer> {
  if (body.length === 0) return { body, encoding };
  const plain = encoding === null ? body : await decompressed(body, encoding, maxBytes);
  // One character is one byte, so that bytes that are not UTF-8 stay, too.
  const text = plain.toString('latin1');
  const hidden = text.replace(memberPattern(member), '$1null');
  return hidden === text ? { body, encoding } : { body: Buffer.from(hidden, 'latin1'), encoding: null };
}
