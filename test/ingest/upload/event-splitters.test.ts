import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EventReceiver, type EventSplitter, JsonArraySplitter, NdjsonSplitter } from '../../../ingest/upload/event-splitters.ts';

describe('however an input is cut into chunks, the same events come out:', () => {
  const piecesOf = (splitter: EventSplitter, bytes: Buffer, cuts: readonly number[]) => {
    const pieces: string[] = [];
    const receiver: EventReceiver = {
      event: (piece) => pieces.push(Buffer.from(piece).toString()),
      lines: (chunk, other) => {
        let start = 0;
        for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
          other(chunk.subarray(start, end));
          start = end + 1;
        }
        return start;
      },
      stray: (piece, reason) => pieces.push(`${Buffer.from(piece).toString()} ${reason}`),
      tooLong: ({ sizeBytes }) => pieces.push(`${sizeBytes} bytes`),
      newlines: () => {},
    };
    const ends = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    for (const [index, end] of ends.slice(1).entries()) {
      const chunk = Buffer.from(bytes.subarray(ends[index], end));
      splitter.push(chunk, receiver);
      // The memory of a chunk may be used again after the call.
      chunk.fill(0);
    }
    splitter.end(receiver);
    return pieces;
  };
  const line = fc.oneof(
    fc.json(),
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, '')),
    fc.constantFrom('', ' ', '{"a":"\\"}]"}'),
  );

  test('lines', () => {
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(5000)), (lines, newline, cuts) => {
        const expected = lines.filter((text) => !/^[ \t]*$/.test(text));
        expect(piecesOf(new NdjsonSplitter(), Buffer.from(lines.join(newline)), cuts)).toEqual(expected);
      }),
    );
  });

  test('arrays', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), fc.constantFrom(',', ' , ', '\n,\r\n'), fc.array(fc.nat(5000)), (values, comma, cuts) => {
        expect(piecesOf(new JsonArraySplitter(), Buffer.from(`[${values.join(comma)}]`), cuts)).toEqual(
          values.map((value) => value.trim()),
        );
      }),
    );
  });
});
