import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EventReceiver, NO_LINES } from '../../../ingest/upload/event-splitters.ts';
import { JsonTextSplitter } from '../../../ingest/upload/json-text-splitter.ts';
import { newlinesIn } from '../../../query/json-bytes.ts';
import { assertProperty } from '../../random/assert-property.ts';

const isJson = (bytes: Uint8Array): boolean => {
  try {
    JSON.parse(
      Buffer.from(bytes)
        .toString()
        .replace(/^\ufeff/, ''),
    );
    return true;
  } catch {
    return false;
  }
};

/** The pieces of an input, each with the line that it begins on; what is no JSON behind a question mark. */
function piecesOf(input: Buffer, chunkBytes: number): string[] {
  const pieces: string[] = [];
  let line = 1;
  let bytesSeen = 0;
  const note = (bytes: Uint8Array): void => void pieces.push(`${line} ${isJson(bytes) ? '' : '?'}${Buffer.from(bytes).toString()}`);
  const receiver: EventReceiver = {
    event: note,
    tryEvent: (bytes) => {
      bytesSeen += bytes.length;
      const taken = isJson(bytes);
      if (taken) note(bytes);
      return taken;
    },
    converted: () => {},
    stray: (bytes, reason) => pieces.push(`${line} !${Buffer.from(bytes).toString()} ${reason.slice(0, 16)}`),
    tooLong: ({ sizeBytes }) => pieces.push(`${line} ${sizeBytes} bytes`),
    unclosed: (bytes, index) => pieces.push(`${line} unclosed ${index} ${Buffer.from(bytes as Uint8Array).toString()}`),
    newlines: (count) => {
      line += count;
    },
  };
  const splitter = new JsonTextSplitter(NO_LINES);
  for (let start = 0; start < input.length; start += chunkBytes) {
    // The memory of a chunk may be used again after the call.
    const chunk = Buffer.from(input.subarray(start, start + chunkBytes));
    splitter.push(chunk, receiver);
    chunk.fill(0);
  }
  splitter.end(receiver);
  expect(bytesSeen).toBeLessThanOrEqual(10 * input.length);
  return pieces;
}

describe('the texts of an input, cut into chunks of any size, are:', () => {
  test.each<[what: string, input: string, pieces: readonly string[]]>([
    ['lines', '{"a":1}\n\n [] \r\n{"b":2}', ['1 {"a":1}', '4 {"b":2}']],
    ['an object over lines', '{\n  "a": [\n    {}\n  ]\n}\n{"b":2}\n', ['1 {\n  "a": [\n    {}\n  ]\n}', '6 {"b":2}']],
    ['an object over lines that begin with brackets', '{"a":\n[\n{"b":1},\n{}\n]\n}\n', ['1 {"a":\n[\n{"b":1},\n{}\n]\n}']],
    ['objects over lines with CRLF', '{\r\n"a":1\r\n}\r\n{\r\n}\r\n', ['1 {\r\n"a":1\r\n}', '4 {\r\n}']],
    ['an object whose end has no newline', '{\n"a":"}\\"{"\n}', ['1 {\n"a":"}\\"{"\n}']],
    ['objects behind one another', '{"a":1}{"b":2}\n{\n"c":3\n} {\n"d":4}\n', ['1 {"a":1}', '1 {"b":2}', '2 {\n"c":3\n} ', '4 {\n"d":4}']],
    ['two arrays', '[{"a":1},{"b":2}][{"c":3}]\n\n[\n{"d":4}\n]', ['1 {"a":1}', '1 {"b":2}', '1 {"c":3}', '4 {"d":4}']],
    ['arrays among lines', '{"a":1}\n[{"b":2}]\n{"c":3}\n[ ]\n', ['1 {"a":1}', '2 {"b":2}', '3 {"c":3}']],
    [
      'an array of objects over lines',
      '[\n  {\n    "a": 1\n  },\n  {\n    "b": 2\n  }\n]\n',
      ['2 {\n    "a": 1\n  }', '5 {\n    "b": 2\n  }'],
    ],
    ['an array of lines', '[\n{"a":1},\n{"b":2}\n]\n', ['2 {"a":1}', '3 {"b":2}']],
    [
      'a byte order mark, NULs and blanks before them',
      '\ufeff{\n}\n\0\0{\n\0"a":1}\n \0\n\ufeff [{}]',
      ['1 \ufeff{\n}', '3 {\n"a":1}', '5 ? \0', '6 {}'],
    ],
    ['a line that is no JSON', '{"a":1}\nno {\n{"b":2}\n', ['1 {"a":1}', '2 ?no {', '3 {"b":2}']],
    ['a line that is cut in a text', '{"a":"x\n{"b":2}\n{"c":3}\n', ['1 ?{"a":"x', '2 {"b":2}', '3 {"c":3}']],
    ['a line that is cut behind a comma', '{"a":1,\n{"b":2}\n{"c":3}\n', ['1 ?{"a":1,', '2 {"b":2}', '3 {"c":3}']],
    ['a line that is cut behind a colon', '{"a":\n{"b":2}\n{"c":3}\n', ['1 ?{"a":', '2 {"b":2}', '3 {"c":3}']],
    ['a line that is cut in an array', '{"a":[\n{"b":2}\n{"c":3}\n', ['1 ?{"a":[', '2 {"b":2}', '3 {"c":3}']],
    ['a line that is cut at the end', '{"b":2}\n{"a":[', ['1 {"b":2}', '2 ?{"a":[']],
    ['a line that is cut, before a bracket of another kind', '{"a":[1,\n[{"b":2}]\n}\n]x\n', ['1 ?{"a":[1,', '2 {"b":2}', '3 ?}', '4 ?]x']],
    [
      'a line that is cut, and what closes its brackets further on',
      '{"a":[1,\n{"b":2}\n]x\n}\n',
      ['1 ?{"a":[1,', '2 {"b":2}', '3 ?]x', '4 ?}'],
    ],
    ['a text with something behind it', '{"a":\n{"b":1}\n},\n{"c":2}\n', ['1 ?{"a":\n{"b":1}\n},', '4 {"c":2}']],
    ['such a line in an array', '[\n{"a":[1,\n{"b":2}\n]x\n},{"c":3}]', ['2 ?{"a":[1,', '3 {"b":2}', '4 ?x', '5 ?},{"c":3}]']],
    ['several lines that are cut', '{"a":[\n{"b":[\n{"c":3}\n{"d":\n', ['1 ?{"a":[', '2 ?{"b":[', '3 {"c":3}', '4 ?{"d":']],
    ['an object over lines that is cut', '{\n "a": 1,\n "b":\n{\n "c": 2\n}\n{}\n', ['1 ?{\n "a": 1,\n "b":', '4 {\n "c": 2\n}', '7 {}']],
    ['a bracket too many', '{"a":1}}\n{"b":2}\n', ['1 ?{"a":1}}', '2 {"b":2}']],
    ['a bracket too many over lines', '{\n"a":1\n}]\n{"b":2}\n', ['1 ?{\n"a":1\n}]', '4 {"b":2}']],
    ['a comma behind a line', '{"a":1},\n{"b":2}\n', ['1 ?{"a":1},', '2 {"b":2}']],
    ['something behind an object over lines', '{\n} x {}\n{"b":2}\n', ['1 ?{\n} x {}', '3 {"b":2}']],
    ['a missing comma in an array', '[\n{"a":1}\n{"b":2}\n]\n{"c":3}\n', ['2 {"a":1}\n', '3 {"b":2}', '4 ?]', '5 {"c":3}']],
    ['a line of an array that is cut', '[\n{"a":1},\n{"b":\n{"c":3},\n{"d":4}\n]\n', ['2 {"a":1}', '3 ?{"b":', '4 {"c":3}', '5 {"d":4}']],
    ['a line of a log that begins with a bracket', '{"a":1}\n[error] x\n{"b":2}\n', ['1 {"a":1}', '2 ?error', '2 ? x', '3 {"b":2}']],
    ['a bracket that nothing closes', '{"a":1}\n[error\n{"b":2}\n{"c":3}\n', ['1 {"a":1}', '2 ?error\n', '3 {"b":2}', '4 {"c":3}']],
    ['an array behind lines that is cut', '{"a":1}\n[{"b":2},{"c":', ['1 {"a":1}', '2 {"b":2}', '2 ?{"c":']],
    ['nothing between commas', '[{},,{}]', ['1 {}', '1 ! there is nothing', '1 {}']],
  ])('%s', (_what, input, pieces) => {
    const bytes = Buffer.from(input);
    // Of an array the last element keeps the blanks behind it only where no bracket or comma ends it.
    const withoutBlanks = (piece: string): string => piece.trimEnd();
    for (const chunkBytes of [bytes.length, 1, 2, 3, 7]) {
      expect(piecesOf(bytes, chunkBytes).map(withoutBlanks)).toEqual(pieces.map(withoutBlanks));
    }
  });

  test('those of an array which is cut, and what there is of its last element', () => {
    for (const chunkBytes of [1, 100]) {
      expect(piecesOf(Buffer.from('[{"a":1},{"b":'), chunkBytes)).toEqual(['1 {"a":1}', '1 unclosed 1 {"b":']);
    }
  });
});

test('what is not closed within the length of an event is one faulty one up to the next line that begins with a bracket', () => {
  const values = `${'1,'.repeat(50)}\n`.repeat(30_000);
  const long = Buffer.from(`{"a":[\n${values}{"b":2}\n{"c":3}\n`);
  expect(piecesOf(long, 65_536)).toEqual([`1 ${long.length - 16} bytes`, '30002 {"b":2}', '30003 {"c":3}']);
  // Lines that may be the elements of the array that nothing closes.
  const line = `{"b":"${'x'.repeat(1000)}"},\n`;
  const spoiled = piecesOf(Buffer.from(`{"a":[\n${line.repeat(3000)}`), 65_536);
  expect(spoiled.map((piece) => piece.slice(0, 10)).slice(0, 3)).toEqual(['1 ?{"a":[', '2 ?{"b":"x', '3 ?{"b":"x']);
  expect(spoiled).toHaveLength(3001);
});

test('brackets that are never closed are each looked at a few times alone', () => {
  const pieces = piecesOf(Buffer.from('{"a":[\n'.repeat(50_000)), 65_536);
  expect(pieces).toHaveLength(50_000);
});

/** An object over lines that begin at column 0, as Python writes it with `indent=0`, around `leaf`. */
function nested(levels: number, leaf: string): string {
  return `${'{\n"a":\n[\n'.repeat(levels)}${leaf}${'\n]\n}'.repeat(levels)}`;
}

describe('a whole text is never taken apart, however deep its lines begin with brackets:', () => {
  test.each([
    ['9 levels', '', nested(9, '{}'), ''],
    ['more levels than an event may have', '', nested(1500, '{}'), ''],
    ['more levels than are remembered', '', `{"x":\n${nested(3000, '{},\n{}')}\n}`, ''],
    ['behind a line that is cut', '{"cut":[1,\n', nested(40, '{}'), '\n{"b":2}'],
    ['with a number that is none in JSON', '', nested(9, '[NaN, -Infinity]'), ''],
  ])('%s', (_what, before, text, after) => {
    for (const chunkBytes of [100_000, 7]) {
      const pieces = piecesOf(Buffer.from(`${before}${text}\n${after}`), chunkBytes);
      expect(pieces.map((piece) => piece.replace(/^\d+ \??/, '').trim())).toEqual(
        [before, text, after].map((part) => part.trim()).filter(Boolean),
      );
    }
  });

  test('as an element of an array', () => {
    const [one, other] = [nested(20, '{}'), nested(30, '1')];
    expect(piecesOf(Buffer.from(`[\n${one},\n${other}\n]`), 50)).toEqual([`2 ${one}`, `${3 + newlinesIn(Buffer.from(one))} ${other}`]);
  });
});

test('brackets that are never closed take no memory', () => {
  const splitter = new JsonTextSplitter(NO_LINES);
  const receiver = { converted: () => {} } as unknown as EventReceiver;
  const mebibyte = Buffer.alloc(1024 * 1024, '[');
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 32; count++) splitter.push(mebibyte, receiver);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * mebibyte.length);
});

test.each([['{}'], ['{"a":1} '], ['{}[{}]']])('thousands of texts on one line are taken: %s', (texts) => {
  const objects = texts.split('{').length - 1;
  for (const end of ['', '\n']) {
    expect(piecesOf(Buffer.from(`${texts.repeat(20_000)}${end}`), 65_536)).toHaveLength(20_000 * objects);
  }
});

test('whole texts come out whatever stands between them, and however they are written', () => {
  const object = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1, maxKeys: 4 });
  const indent = fc.constantFrom<string | number>(0, 1, 2, 4, '\t');
  const text = fc.tuple(object, indent).map(([value, by]) => ({ text: JSON.stringify(value, null, by), values: [value] }));
  const deep = fc.tuple(object, fc.integer({ min: 1, max: 40 })).map(([value, levels]) => {
    const whole = nested(levels, JSON.stringify(value, null, 1).replaceAll(/^ +/gm, ''));
    return { text: whole, values: [JSON.parse(whole) as unknown] };
  });
  const list = fc
    .tuple(fc.array(object, { maxLength: 4 }), indent)
    .map(([values, by]) => ({ text: JSON.stringify(values, null, by), values: values as readonly unknown[] }));
  // A line that is cut, which has its quote or bracket open, or is none.
  const bad = fc.constantFrom('{"cut":"x', '{"cut":1,', '{"cut":[1,', 'no event', '}', ']x').map((line) => ({ text: line, values: [] }));
  const nuls = fc.nat(3).map((count) => '\0'.repeat(count));
  assertProperty(
    fc.property(
      fc.array(fc.tuple(nuls, fc.oneof(text, list, deep, bad)), { maxLength: 12 }),
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 200 }),
      (parts, newline, chunkBytes) => {
        const input = parts
          .map(([padding, part]) => `${padding}${part.text}${newline}`)
          .join('')
          .replaceAll(/\r?\n/g, newline);
        // An array that comes first needs an end, and has it.
        const pieces = piecesOf(Buffer.from(input), chunkBytes);
        const events = pieces.filter((piece) => /^\d+ [^?!]/.test(piece)).map((piece) => JSON.parse(piece.replace(/^\d+ /, '')) as unknown);
        expect(events).toEqual(parts.flatMap(([, part]) => part.values).map((value) => JSON.parse(JSON.stringify(value))));
      },
    ),
    { numRuns: 500 },
  );
});
