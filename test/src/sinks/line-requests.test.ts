import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasSeveralLines, inHalves, LineRequests, leadingLines } from '../../../src/sinks/line-requests.ts';
import { assertAsyncProperty } from '../../random/assert-property.ts';

describe('the leading lines', () => {
  test.each([
    ['are all that fit', 'a\nbb\nccc\n', 100, 'a\nbb\nccc\n'],
    ['are cut at a line end', 'a\nbb\nccc\n', 5, 'a\nbb\n'],
    ['are cut behind a line end that just fits', 'a\nbb\n', 2, 'a\n'],
    ['are one line that is longer', 'aaaaaaaa\nb\n', 4, 'aaaaaaaa\n'],
    ['are one line where nothing fits', 'a\nb\n', 0, 'a\n'],
    ['of nothing are nothing', '', 4, ''],
  ])('%s', (_what, text, limit, expected) => {
    expect(String(leadingLines(Buffer.from(text), limit))).toBe(expected);
  });
});

test.each([
  ['', false, []],
  ['\n', false, ['\n']],
  ['aaaa\n', false, ['aaaa\n']],
  ['a\nb\n', true, ['a\n', 'b\n']],
  ['a\nbbbbbb\n', true, ['a\n', 'bbbbbb\n']],
  ['bbbbbb\na\n', true, ['bbbbbb\n', 'a\n']],
  ['a\nb\nc\nd\n', true, ['a\nb\n', 'c\nd\n']],
])('%j has several lines: %j, and halves', (text, several, halves) => {
  expect([hasSeveralLines(Buffer.from(text)), inHalves(Buffer.from(text)).map(String)]).toEqual([several, halves]);
});

/** Sends batches to a receiver that takes so many bytes at most; a single line it always takes. */
async function sentTo(takes: number, maxBytes: number, batches: readonly string[]) {
  const requests = new LineRequests(maxBytes);
  const [taken, refused] = [[] as string[], [] as number[]];
  for (const batch of batches) {
    await requests.sendAll(Buffer.from(batch), async (lines) => {
      if (lines.length > takes && hasSeveralLines(lines)) {
        refused.push(lines.length);
        return 'too large';
      }
      taken.push(String(lines));
      return [];
    });
  }
  return { taken, refused };
}

describe('requests', () => {
  test('are as large as they may be', async () => {
    expect(await sentTo(100, 5, ['a\nbb\nccc\n', 'd\n'])).toEqual({ taken: ['a\nbb\n', 'ccc\n', 'd\n'], refused: [] });
  });

  test('of a size that was refused are not made again', async () => {
    const batch = 'aaa\n'.repeat(8);
    expect(await sentTo(8, 100, [batch, batch, batch])).toEqual({
      taken: Array.from({ length: 12 }, () => 'aaa\naaa\n'),
      refused: [32, 16],
    });
  });

  test('go on with what is to be sent next before the rest', async () => {
    const sent: string[] = [];
    await new LineRequests(4).sendAll(Buffer.from('a\nb\nc\n'), async (lines) => {
      sent.push(String(lines));
      return sent.length === 1 ? [Buffer.from('x\n'), Buffer.from('y\n')] : [];
    });
    expect(sent).toEqual(['a\nb\n', 'x\n', 'y\n', 'c\n']);
  });

  test('have all lines in their order, and each refused size is smaller than the one before', async () => {
    const batch = fc.array(
      fc.integer({ min: 0, max: 20 }).map((length) => `${'x'.repeat(length)}\n`),
      { maxLength: 30 },
    );
    const sizes = fc.integer({ min: 1, max: 200 });
    await assertAsyncProperty(
      fc.asyncProperty(fc.array(batch, { maxLength: 4 }), sizes, sizes, async (batches, takes, maxBytes) => {
        const texts = batches.map((lines, index) => lines.map((line) => `${index}${line}`).join(''));
        const { taken, refused } = await sentTo(takes, maxBytes, texts);
        expect(taken.join('')).toBe(texts.join(''));
        expect(refused).toEqual([...new Set(refused)].sort((a, b) => b - a));
      }),
    );
  });
});
