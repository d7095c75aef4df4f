import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unescaped } from '../../../ingest/doors/envelope.ts';
import { assertProperty } from '../../random/assert-property.ts';

/** What stands inside a JSON string: letters, escapes of all kinds, halves of pairs among them. */
const inside = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom(
    '\\ud800',
    '\\udc00',
    '\\uD83D\\uDE00',
    '\\n',
    '\\/',
    '\\\\',
    '\\"',
    '\\u0041',
    '\\u00e9',
    '\\uFFFF',
    '\\b\\f\\t\\r',
    'é',
    '😀',
  ),
);
const NO_UTF8 = Buffer.of(0xff);

const textOf = (pieces: readonly string[]): Buffer => Buffer.from(JSON.parse(`"${pieces.join('')}"`) as string);

test('the escapes of a string are written as what they stand for, also between bytes that are no UTF-8', () => {
  assertProperty(
    fc.property(fc.array(fc.array(inside), { minLength: 1 }), (runs) => {
      const written = runs.map((pieces) => Buffer.from(pieces.join('')));
      const bytes = Buffer.concat([Buffer.from('"'), ...written.flatMap((run) => [run, NO_UTF8]).slice(0, -1), Buffer.from('"')]);
      const wanted = Buffer.concat(runs.flatMap((pieces) => [textOf(pieces), NO_UTF8]).slice(0, -1));
      expect(bytes.subarray(1, unescaped(bytes, 1, bytes.length - 1)).equals(wanted)).toBe(true);
    }),
  );
});
