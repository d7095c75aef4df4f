import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decompressed, type Encoding } from '../../../ingest/upload/decompress.ts';
import { assertAsyncProperty } from '../../random/assert-property.ts';
import { inChunks } from '../event/raw-events.ts';

const join = (...parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);
const NULS = Buffer.alloc(700);
const [ONE, TWO] = [gzipSync('one'), gzipSync('two')];
const [Z_ONE, Z_TWO] = [zstdCompressSync('one'), zstdCompressSync('two')];

/** A frame of zstd that decoders skip, as pzstd writes it. */
const skippable = (first = 0x50, bytes = 4): Buffer =>
  join(Buffer.from([first, 0x2a, 0x4d, 0x18]), Buffer.from(Uint32Array.of(bytes).buffer), Buffer.alloc(bytes, 0x28));

const behind = ({ length }: Uint8Array): string => ` that begins at byte ${length} of the compressed data`;
/** A member with a wrong checksum. */
const damagedEnd = (member: Buffer): Buffer => Buffer.from(member).fill(0, member.length - 8, member.length - 4);

/** A member with all that a header may have. */
function memberWithHeader(flags: number, fields: Buffer, content: string): Buffer {
  const header = join(Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]), fields);
  const checksum = (flags & 2) === 0 ? Buffer.alloc(0) : Buffer.from(Uint16Array.of(crc32(header)).buffer);
  return join(header, checksum, deflateRawSync(content), Buffer.from(Uint32Array.of(crc32(content), content.length).buffer));
}

/** What is decompressed up to the end or an error, and the error's message. */
async function outcome(bytes: Uint8Array, encoding: Encoding, chunkBytes: number): Promise<readonly [string, string | null]> {
  let text = '';
  try {
    for await (const piece of decompressed(inChunks(bytes, chunkBytes), encoding)) text += Buffer.from(piece).toString();
    return [text, null];
  } catch (error) {
    return [text, (error as Error).message];
  }
}

describe('is read to its end, in chunks of any size:', () => {
  test.each<[what: string, encoding: Encoding, bytes: Buffer]>([
    ['gzip members behind one another', 'gzip', join(ONE, TWO)],
    ['gzip members with NULs between them', 'gzip', join(ONE, NULS, TWO)],
    ['gzip members with NULs behind each', 'gzip', join(ONE, NULS, TWO, NULS)],
    ['an empty gzip member between two', 'gzip', join(ONE, gzipSync(''), TWO)],
    ['a gzip member with every header', 'gzip', join(memberWithHeader(0x1f, Buffer.from('\x03\0abcname\0comment\0'), 'one'), TWO)],
    ['a gzip member with a name', 'gzip', join(memberWithHeader(0x08, Buffer.from(`${'n'.repeat(300)}\0`), 'one'), NULS, TWO)],
    ['zstd frames behind one another', 'zstd', join(Z_ONE, Z_TWO)],
    ['a zstd frame behind one to skip', 'zstd', join(skippable(), Z_ONE, Z_TWO)],
    ['zstd frames among those to skip', 'zstd', join(skippable(0x5f, 0), Z_ONE, skippable(0x53, 500), skippable(), Z_TWO, skippable(0x51))],
  ])('%s', async (_what, encoding, bytes) => {
    for (const chunkBytes of [1, 2, 7, 33, 100_000]) {
      expect(await outcome(bytes, encoding, chunkBytes)).toEqual(['onetwo', null]);
    }
  });
});

describe('what cannot be read is named, behind all that came before it:', () => {
  test.each<[what: string, encoding: Encoding, bytes: Buffer, before: string, reason: string]>([
    [
      'other bytes behind a member',
      'gzip',
      join(ONE, Buffer.from('more')),
      'one',
      `incorrect header check) at byte ${ONE.length} of the comp`,
    ],
    [
      'a first member that is cut off',
      'gzip',
      ONE.subarray(0, -4),
      'one',
      'unexpected end of file) in the member that begins at byte 0 of the',
    ],
    ['one other byte behind NULs', 'gzip', join(ONE, NULS, Buffer.from('x')), 'one', `header check) at byte ${ONE.length + 700} of`],
    ...[[0x1f], [0x1f, 0x8b], [0x1f, 0x8b, 8]].map((tail): [string, Encoding, Buffer, string, string] => [
      `the first ${tail.length} bytes of a member`,
      'gzip',
      join(ONE, NULS, Buffer.from(tail)),
      'one',
      `unexpected end of file) in the member that begins at byte ${ONE.length + NULS.length} of the compressed data`,
    ]),
    [
      'other bytes behind a magic',
      'gzip',
      join(ONE, Buffer.from('\x1f\x8bjunk text', 'latin1')),
      'one',
      `method) in the member${behind(ONE)}`,
    ],
    ['a damaged second member', 'gzip', join(ONE, damagedEnd(TWO), ONE), 'onetwo', `incorrect data check) in the member${behind(ONE)}`],
    ['a damaged body', 'gzip', join(ONE, Buffer.from(TWO).fill(0xff, 10, 14)), 'one', `) in the member${behind(ONE)}`],
    ['no gzip', 'gzip', Buffer.from('x'), '', 'incorrect header check)'],
    ['nothing', 'gzip', Buffer.alloc(0), '', 'unexpected end of file'],
    ['NULs first', 'gzip', join(NULS, ONE), '', 'incorrect header check)'],
    ['a member that is cut in its header', 'gzip', ONE.subarray(0, 9), '', 'unexpected end of file'],
    [
      'a member that is cut in its trailer',
      'gzip',
      join(TWO, ONE.subarray(0, -1)),
      'twoone',
      `unexpected end of file) in the member${behind(TWO)}`,
    ],
    ['another method', 'gzip', join(ONE, Buffer.from([0x1f, 0x8b, 9, 0, 0, 0, 0, 0, 0, 0])), 'one', 'unknown compression method'],
    ['flags that there are not', 'gzip', join(ONE, Buffer.from([0x1f, 0x8b, 8, 0x80, 0, 0, 0, 0, 0, 0])), 'one', 'unknown header flags'],
    ['a wrong checksum', 'gzip', Buffer.from(ONE).fill(0, ONE.length - 8, ONE.length - 4), 'one', 'incorrect data check'],
    ['a wrong length', 'gzip', Buffer.from(ONE).fill(9, ONE.length - 4), 'one', 'incorrect length check'],
    ['a wrong checksum of the header', 'gzip', memberWithHeader(2, Buffer.alloc(0), 'one').fill(0, 10, 12), '', 'header crc mismatch'],
    ['other bytes behind a frame', 'zstd', join(Z_ONE, Buffer.from('more')), 'one', 'Unknown frame descriptor)'],
    ['NULs behind a frame', 'zstd', join(Z_ONE, NULS), 'one', 'Unknown frame descriptor)'],
    ['a frame that is cut', 'zstd', join(Z_ONE, Z_TWO.subarray(0, -1)), 'one', 'unexpected end of file'],
  ])('%s', async (_what, encoding, bytes, before, reason) => {
    for (const chunkBytes of [1, 5, 100_000]) {
      const [text, message] = await outcome(bytes, encoding, chunkBytes);
      expect(message).toContain(reason);
      // Of a frame that is cut its decoder may have given a part.
      expect(text.slice(0, before.length)).toBe(before);
    }
  });
});

test('the position of bytes behind a zstd frame is named where they come in one chunk with it', async () => {
  const bytes = join(Z_ONE, Buffer.from('more'));
  expect(await outcome(bytes, 'zstd', bytes.length)).toEqual(['one', expect.stringContaining(`) at byte ${Z_ONE.length} of the`)]);
});

test('members of any sizes are read to their end, however they are padded and cut into chunks', async () => {
  const member = fc.record({ content: fc.string({ maxLength: 3000 }), nuls: fc.nat(600), level: fc.integer({ min: 0, max: 9 }) });
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(member, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 3000 }), async (members, chunkBytes) => {
      const bytes = join(...members.map(({ content, nuls, level }) => join(gzipSync(content, { level }), Buffer.alloc(nuls))));
      const pieces: Uint8Array[] = [];
      for await (const piece of decompressed(inChunks(bytes, chunkBytes), 'gzip')) pieces.push(piece);
      expect(join(...pieces).toString()).toBe(members.map(({ content }) => content).join(''));
    }),
    { numRuns: 50 },
  );
});
