import { expect, test } from 'vitest';
import { LineBuffer } from '../../../ingest/event/line-buffer.ts';

const line = (length: number, index: number) => `${String.fromCharCode(97 + (index % 26)).repeat(length)}\n`;

test.each<[what: string, lengths: readonly number[]]>([
  ['short lines', Array.from({ length: 5000 }, (_, index) => index % 50)],
  ['empty lines', Array(3000).fill(0)],
  ['lines that just fill the first chunks', [1023, 4095, 16_383, 1]],
  ['lines longer than the largest chunk', [10, 3_000_000, 10, 1_200_000, 0]],
])('of %s that are added together or one by one none is spread over two chunks', (_what, lengths) => {
  const lines = lengths.map(line);
  for (const together of [1, 3, 700]) {
    const buffer = new LineBuffer();
    for (let at = 0; at < lines.length; at += together) {
      const source = Buffer.from(`before\n${lines.slice(at, at + together).join('')}behind`);
      buffer.appendLines(source, 'before\n'.length, source.length - 'behind'.length);
    }
    const { byteLength } = buffer;
    const chunks = buffer.take();
    expect(Buffer.concat(chunks).toString() === lines.join('')).toBe(true);
    expect(byteLength).toBe(lines.join('').length);
    expect(chunks.filter((chunk) => chunk.at(-1) !== '\n'.charCodeAt(0))).toEqual([]);
  }
});

test('lines are added behind one that was written in pieces', () => {
  const buffer = new LineBuffer();
  buffer.copy(Buffer.from('a first'), 2, 7);
  buffer.endLine();
  buffer.appendLines(Buffer.from('second\nthird\n'), 0, 13);
  buffer.writeByte('4'.charCodeAt(0));
  buffer.endLine();
  expect(Buffer.concat(buffer.take()).toString()).toBe('first\nsecond\nthird\n4\n');
});
