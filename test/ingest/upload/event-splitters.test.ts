import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type EventReceiver,
  type EventSplitter,
  type LineConverter,
  NdjsonSplitter,
  NO_LINES,
} from '../../../ingest/upload/event-splitters.ts';
import { JsonTextSplitter } from '../../../ingest/upload/json-text-splitter.ts';
import { assertProperty } from '../../random/assert-property.ts';

/** Takes whole lines that look like an object, and notes their texts. */
function noting(texts: string[]): LineConverter {
  return {
    get eventCount() {
      return texts.length;
    },
    convertRecords: (_records, from) => from,
    convertLines: (chunk, from) => {
      let start = from;
      for (let end = chunk.indexOf('\n', start); end >= 0; end = chunk.indexOf('\n', start)) {
        const text = chunk.toString('utf8', start, end);
        if (!/^\{.*\}$/.test(text)) break;
        texts.push(text);
        start = end + 1;
      }
      return start;
    },
  };
}

describe('however an input is cut into chunks, the same events come out:', () => {
  const piecesOf = (splitterOf: (pieces: string[]) => EventSplitter, bytes: Buffer, cuts: readonly number[]) => {
    const pieces: string[] = [];
    const splitter = splitterOf(pieces);
    const receiver: EventReceiver = {
      event: (piece) => pieces.push(Buffer.from(piece).toString()),
      tryEvent: (piece) => {
        pieces.push(Buffer.from(piece).toString());
        return true;
      },
      converted: () => {},
      stray: (piece, reason) => pieces.push(`${Buffer.from(piece).toString()} ${reason}`),
      tooLong: ({ sizeBytes }) => pieces.push(`${sizeBytes} bytes`),
      unclosed: (piece, index) => pieces.push(`unclosed ${index}: ${Buffer.from(piece as Uint8Array).toString()}`),
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
    assertProperty(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(5000)), (lines, newline, cuts) => {
        const expected = lines.filter((text) => !/^[ \t]*$/.test(text));
        expect(piecesOf((pieces) => new NdjsonSplitter(noting(pieces)), Buffer.from(lines.join(newline)), cuts)).toEqual(expected);
      }),
    );
  });

  test('arrays', () => {
    assertProperty(
      fc.property(fc.array(fc.json()), fc.constantFrom(',', ' , ', '\n,\r\n'), fc.array(fc.nat(5000)), (values, comma, cuts) => {
        expect(piecesOf(() => new JsonTextSplitter(NO_LINES), Buffer.from(`[${values.join(comma)}]`), cuts)).toEqual(
          values.map((value) => value.trim()),
        );
      }),
    );
  });
});
