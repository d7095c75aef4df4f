import fc from 'fast-check';
import { damage, damaged } from '../damaged-bytes.ts';

/** Something that happens to a document's bytes. */
type Change = (bytes: Buffer) => Buffer;

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

/** Matches one token of a JSON text. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

/** JSON that readers have stumbled over, and what is nearly JSON. */
const TOKENS: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e400',
  '-1e-400',
  '2147483648',
  '9007199254740993',
  '18446744073709551616',
  '9'.repeat(5_000),
  `0.${'0'.repeat(5_000)}1`,
  'NaN',
  '""',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\x41"',
  '"a\nb"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"\xff\xfe"',
  '"\xed\xa0\x80"',
  '"\xc0\x80"',
  '"\xf4\x90\x80\x80"',
  '"\xe2\x80\xa8"',
  `"${'x'.repeat(70_000)}"`,
  `"${'\\u0061'.repeat(20_000)}"`,
  `"${'*a'.repeat(250)}*"`,
  '"10.0.0.0/8"',
  '"::/0"',
  '[]',
  '{}',
  '[null]',
  '{"":{}}',
  '[[[[]]]]',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  '['.repeat(5_000),
  `${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`,
  `[${'0,'.repeat(20_000)}0]`,
  `{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
  `{${'"a":1,'.repeat(2_000)}"a":1}`,
  '}',
  ']',
  ',',
  ':',
  '"',
  '//',
  '\t\n\r ',
  '\0',
];

function tokensIn(json: string): readonly { readonly start: number; readonly end: number }[] {
  return [...json.matchAll(TOKEN)].map(({ index, 0: token }) => ({ start: index, end: index + token.length }));
}

/** Replaces so many tokens of a JSON text by the result of `by`, which gets the old tokens. */
function replacedTokens(bytes: Buffer, at: number, count: number, by: (before: string) => string): Buffer {
  const json = bytes.toString('latin1');
  const tokens = tokensIn(json);
  const first = at % Math.max(1, tokens.length);
  const [start, end] = [tokens[first]?.start ?? 0, tokens[Math.min(first + count, tokens.length) - 1]?.end ?? 0];
  return text(json.slice(0, start) + by(json.slice(start, end)) + json.slice(end));
}

const isString = (token: string): boolean => token.startsWith('"') && token.endsWith('"') && token.length > 1;
const isNumber = (token: string): boolean => /^-?\d/.test(token);
const STRINGS = TOKENS.filter(isString);
const NUMBERS = TOKENS.filter(isNumber);

/** A token by one of its kind, so that what reads the value is reached. */
function ofItsKind(token: string, choice: number): string {
  const kind = isString(token) ? STRINGS : isNumber(token) ? NUMBERS : TOKENS;
  return kind[choice % kind.length] ?? token;
}

const ofTokens: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.nat(), fc.nat()).map(
      ([at, choice]): Change =>
        (bytes) =>
          replacedTokens(bytes, at, 1, (before) => ofItsKind(before, choice)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.constantFrom(...TOKENS)).map(
      ([at, token]): Change =>
        (bytes) =>
          replacedTokens(bytes, at, 1, () => token),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.constantFrom(...TOKENS)).map(
      ([at, token]): Change =>
        (bytes) =>
          replacedTokens(bytes, at, 1, (before) => before + token),
    ),
  },
  // A key and its value, a list's value: left out, there twice, there often.
  {
    weight: 3,
    arbitrary: fc.tuple(fc.nat(), fc.integer({ min: 1, max: 8 }), fc.constantFrom(0, 2, 2, 3, 300)).map(
      ([at, count, times]): Change =>
        (bytes) =>
          replacedTokens(bytes, at, count, (before) => before.slice(0, 2_000).repeat(times)),
    ),
  },
);

const ofBytes: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: damage.map(
      (one): Change =>
        (bytes) =>
          damaged(bytes, one),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\xef\xbb\xbf', '\xff\xfe', '\0', ' ', '\n', '\x1f\x8b', '\x28\xb5\x2f\xfd', '[', '{').map(
      (prefix): Change =>
        (bytes) =>
          Buffer.concat([text(prefix), bytes]),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 12 })).map(
      ([at, junk]): Change =>
        (bytes) =>
          Buffer.concat([bytes.subarray(0, at % (bytes.length + 1)), junk, bytes.subarray(at % (bytes.length + 1))]),
    ),
  },
  // A piece of it put in elsewhere.
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.nat(), fc.nat()).map(
      ([from, length, to]): Change =>
        (bytes) => {
          const start = from % (bytes.length + 1);
          const piece = bytes.subarray(start, start + (length % 2_000));
          const offset = to % (bytes.length + 1);
          return Buffer.concat([bytes.subarray(0, offset), piece, bytes.subarray(offset)]);
        },
    ),
  },
);

/** Changes of a document, mostly one change of one token or byte. */
export const changes: fc.Arbitrary<Change> = fc
  .oneof(
    { weight: 5, arbitrary: fc.array(ofTokens, { minLength: 1, maxLength: 2 }) },
    { weight: 3, arbitrary: fc.array(ofBytes, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(fc.oneof(ofTokens, ofBytes), { minLength: 1, maxLength: 6 }) },
  )
  .map(
    (several): Change =>
      (bytes) =>
        several.reduce((changed, change) => change(changed), bytes),
  );
