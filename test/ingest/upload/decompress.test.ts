import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DECODER_BYTES, decompressed, type Encoding } from '../../../ingest/upload/decompress.ts';
import { MAX_ZSTD_WINDOW_BYTES, zstdFrameHeader } from '../../../ingest/upload/zstd-frame.ts';
import { zstdFrame } from '../../fixtures/zstd-frame.ts';
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
async function outcome(bytes: Uint8Array, encoding: Encoding | 'detected', chunkBytes: number): Promise<readonly [string, string | null]> {
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

test.each<[what: string, bytes: Buffer, text: string]>([
  ['gzip', join(ONE, NULS, TWO), 'onetwo'],
  ['zstd', join(Z_ONE, Z_TWO), 'onetwo'],
  ['zstd behind a frame to skip', join(skippable(), Z_ONE), 'one'],
  ['nothing', Buffer.alloc(0), ''],
  ['a text of three bytes', Buffer.from('{}\n'), '{}\n'],
  ['a text', Buffer.from('[{"a":1}]'), '[{"a":1}]'],
  ['the first byte of gzip alone', Buffer.from([0x1f]), '\x1f'],
  ['three bytes of zstd alone', Z_ONE.subarray(0, 3), Z_ONE.subarray(0, 3).toString()],
])('what compresses bytes is detected by their beginning: %s', async (_what, bytes, text) => {
  for (const chunkBytes of [1, 3, 100_000]) expect(await outcome(bytes, 'detected', chunkBytes)).toEqual([text, null]);
});

const KIB = 1024;
const MIB = 1024 * KIB;
/** What a decoder holds beside the window and, twice, a block. */
const heldFor = (kept: number): number => DECODER_BYTES + kept + 2 * Math.min(kept, 128 * KIB);

describe('the window of a zstd frame', () => {
  test.each<[windowLog: number, contentBytes: number, isSized: boolean, windowBytes: number, contentOf: number | null]>([
    [10, 0, true, 0, 0],
    [10, 100_000, false, KIB, null],
    [10, 100_000, true, KIB, 100_000],
    [17, 200, true, 200, 200],
    [17, 300, true, 300, 300],
    [17, 70_000, true, 70_000, 70_000],
    [17, 200_000, true, 128 * KIB, 200_000],
    [23, 100, false, 8 * MIB, null],
    [27, 100, false, 128 * MIB, null],
  ])('of 2 ** %s, %s bytes, sized: %s', async (windowLog, contentBytes, isSized, windowBytes, contentOf) => {
    const bytes = await zstdFrame(Buffer.alloc(contentBytes, 'x'), windowLog, isSized);
    expect(zstdFrameHeader(bytes)).toEqual({ windowBytes, contentBytes: contentOf });
    const held: number[] = [];
    const read = async (): Promise<number> => {
      let length = 0;
      const memory = { hold: (_part: string, bytes: number) => void held.push(bytes) };
      for await (const piece of decompressed(inChunks(bytes, 7), 'zstd', { memory, maxWindowBytes: 128 * MIB })) length += piece.length;
      return length;
    };
    expect(await read()).toBe(contentBytes);
    expect(held).toEqual([DECODER_BYTES, heldFor(Math.min(windowBytes, contentOf ?? windowBytes)), 0]);
  });

  test.each<[what: string, frames: (large: Buffer) => Buffer, at: number]>([
    ['first', (large) => large, 0],
    ['behind another one', (large) => join(Z_ONE, large), Z_ONE.length],
    ['behind one to skip', (large) => join(skippable(), large), skippable().length],
  ])('that is larger than 8 MiB is refused: %s', async (_what, frames, at) => {
    const bytes = frames(await zstdFrame('xxxxx', 24));
    const [, message] = await outcome(bytes, 'zstd', 100);
    expect(message).toBe(
      `the zstd frame that begins at byte ${at} of the compressed data needs a window of ${16 * MIB} bytes; ` +
        `allowed: at most ${MAX_ZSTD_WINDOW_BYTES} bytes`,
    );
  });

  test.each([0, 5, 6, 9, 17])('is not known of the first %s bytes of a header', (length) => {
    expect(zstdFrameHeader(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xc3, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]).subarray(0, length))).toBe(
      null,
    );
  });
});

test('an error of the memory is thrown as it is', async () => {
  const full = new Error('full');
  const memory = {
    hold: (_part: string, bytes: number): void => {
      if (bytes > 0) throw full;
    },
  };
  const read = async (encoding: Encoding): Promise<void> => {
    for await (const _piece of decompressed(inChunks(encoding === 'gzip' ? ONE : Z_ONE, 9), encoding, { memory }));
  };
  await expect(read('gzip')).rejects.toBe(full);
  await expect(read('zstd')).rejects.toBe(full);
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
