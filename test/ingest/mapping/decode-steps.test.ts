import { gzipSync } from 'node:zlib';
import { expect, it, test } from 'vitest';
import { type DecodeStep, decoded, MOST_UNPACKED_BYTES } from '../../../ingest/mapping/decode-steps.ts';
import { MappingFault } from '../../../ingest/mapping/mapping-fault.ts';

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64');
const steps = (...kinds: ('url' | 'base64' | 'gzip' | 'json')[]): readonly DecodeStep[] => kinds.map((kind) => ({ kind }));
const SPLIT: DecodeStep = { kind: 'split', sign: ';' };
const run = (value: string, all: readonly DecodeStep[], leftBytes = MOST_UNPACKED_BYTES): readonly unknown[] =>
  decoded(value, all, 'ua', { leftBytes });

it.each<[string, readonly DecodeStep[], readonly unknown[]]>([
  ['a%20b%3B', steps('url'), ['a b;']],
  ['%E2%82%AC', steps('url'), ['€']],
  ['100%, %zz %2 %41', steps('url'), ['100%, %zz %2 A']],
  ['%ff', steps('url'), ['\ufffd']],
  [base64('942100'), steps('base64'), ['942100']],
  ['OTQyMTAw', steps('base64'), ['942100']],
  [`${base64('a~?>b').replace('+', ' ')}`, steps('base64'), ['a~?>b']],
  ['', steps('base64'), ['']],
  [base64(gzipSync('packed')), steps('base64', 'gzip'), ['packed']],
  [base64('plain'), steps('base64', 'gzip'), ['plain']],
  ['text', steps('gzip'), ['text']],
  ['"a"', steps('json'), ['a']],
  ['[1,2]', steps('json'), [[1, 2]]],
  ['true', steps('json'), [true]],
  ['a;b;;c', [SPLIT], ['a', 'b', '', 'c']],
  ['OTUwMDAy%3bOTUwMDA2', [{ kind: 'url' }, SPLIT, { kind: 'base64' }], ['950002', '950006']],
])('%s by %j', (value, all, values) => {
  expect(run(value, all)).toEqual(values);
});

it('keeps the digits of a number in JSON', () => {
  expect(run('12345678901234567890', steps('json'))).toMatchObject([{ source: '12345678901234567890' }]);
});

it.each<[string, readonly DecodeStep[], string]>([
  ['what?', steps('base64'), 'ua is "what?": base64 is required'],
  ['{', steps('json'), 'ua is "{": JSON is required'],
  [`${'x'.repeat(100)}!`, steps('base64'), `ua is "${'x'.repeat(80)}…": base64 is required`],
  [base64(gzipSync('packed').subarray(0, 12)), steps('base64', 'gzip'), 'ua is no gzip that can be unpacked (Z_BUF_ERROR)'],
])('%#: by %j, what it does not read is refused', (value, all, message) => {
  expect(() => run(value, all)).toThrow(new MappingFault(message));
});

it('has one budget for all values of a record', () => {
  const budget = { leftBytes: 20 };
  decoded(base64('0123456789'), steps('base64'), 'ua', budget);
  expect(budget.leftBytes).toBe(10);
  expect(() => decoded(base64('0123456789-'), steps('base64'), 'url', budget)).toThrow(/^url has more than/);
  expect(() => decoded(base64(gzipSync('a'.repeat(10_000))), steps('base64', 'gzip'), 'url', { leftBytes: 100 })).toThrow(
    /^url has more than/,
  );
});

test('a text that unpacks to more than a record may have is refused', () => {
  const packed = (size: number): string => base64(gzipSync(Buffer.alloc(size, 'x')));
  const ofSize = (size: number): readonly unknown[] => run(packed(size), steps('base64', 'gzip'));
  // What base64 gives counts, too.
  const most = MOST_UNPACKED_BYTES - Buffer.from(packed(MOST_UNPACKED_BYTES), 'base64').length;
  expect(ofSize(most)).toEqual(['x'.repeat(most)]);
  const refused = new MappingFault('ua has more than 1048576 bytes unpacked, which are allowed for one record');
  expect(() => ofSize(most + 100)).toThrow(refused);
  expect(() => ofSize(100 * MOST_UNPACKED_BYTES)).toThrow(refused);
});
