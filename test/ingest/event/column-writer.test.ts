import { describe, expect, test } from 'vitest';
import { ColumnWriter } from '../../../ingest/event/column-writer.ts';
import { BATCH_COLUMNS, columnIndex, HAS_UPPERCASE_OR_NON_ASCII_BIT } from '../../../query/batch-columns.ts';
import { decodedEvents } from './decoded-fields.ts';

const FEATURE = columnIndex('feature');
const DIGITS = '0123456789abcdef0f1e2d3c4b5a6978';
const UUID = '01234567-89ab-cdef-0f1e-2d3c4b5a6978';

interface Written {
  readonly logId?: string;
  readonly zone?: number;
  readonly time?: number;
  readonly url?: string;
  readonly ip?: string;
  readonly feature?: string;
}

/** With something before and behind each text, which is no part of it. */
function add(writer: ColumnWriter, { logId = 'a', zone = 7, time = 1, url, ip, feature }: Written): void {
  const write = (value: string | undefined, how: (text: Buffer, start: number, end: number) => void) => {
    if (value !== undefined) {
      const text = Buffer.from(`A?${value}A?é`);
      how(text, 2, text.length - 4);
    }
  };
  writer.shieldZoneId(zone);
  writer.timestamp(time);
  write(logId, (text, start, end) => writer.logId(text, start, end));
  write(url, (text, start, end) => writer.url(text, start, end));
  write(ip, (text, start, end) => writer.ip(text, start, end));
  write(feature, (text, start, end) => writer.text(FEATURE, text, start, end));
  writer.endEvent();
}

function columnsOf(event: Written): readonly string[] {
  const writer = new ColumnWriter();
  add(writer, event);
  return writer.take().values.map((chunks) => Buffer.concat(chunks).toString('latin1'));
}

const text = (value: string) => `${String.fromCharCode(value.length)}\0\0\0${value}`;

describe('an id is written', () => {
  test.each<[what: string, logId: string, bytes: string, written: string]>([
    ['as 16 bytes if it is 32 digits', DIGITS, text(Buffer.from(DIGITS, 'hex').toString('latin1')), ''],
    ['as 16 bytes and a dash if it is a UUID', UUID, text(Buffer.from(DIGITS, 'hex').toString('latin1')), text('-')],
    ['as a text if it is one', 'x', '', text('x')],
    ['as a text if it is a dash', '-', '', text('-')],
    ['as a text if it has 31 digits', DIGITS.slice(1), '', text(DIGITS.slice(1))],
    ['as a text if it has a digit in upper case', DIGITS.replace('f', 'F'), '', text(DIGITS.replace('f', 'F'))],
    ['as a text if it is a UUID in upper case', UUID.toUpperCase(), '', text(UUID.toUpperCase())],
    ['as a text if its last digit is none', DIGITS.replace(/.$/, 'g'), '', text(DIGITS.replace(/.$/, 'g'))],
    ['as a text if a dash is elsewhere', '0123456-789ab-cdef-0f1e-2d3c4b5a69780', '', text('0123456-789ab-cdef-0f1e-2d3c4b5a69780')],
    ...[8, 13, 18, 23].map((dash): [string, string, string, string] => {
      const logId = `${UUID.slice(0, dash)}0${UUID.slice(dash + 1)}`;
      return [`as a text if it has a digit for the dash at ${dash}`, logId, '', text(logId)];
    }),
    ['as a text if it has 32 characters, dashes among them', UUID.slice(4), '', text(UUID.slice(4))],
    ['as a text if it has 36 digits', `${DIGITS}0123`, '', text(`${DIGITS}0123`)],
  ])('%s', (_what, logId, bytes, written) => {
    const columns = columnsOf({ logId });
    expect([columns[columnIndex('logIdBytes')], columns[columnIndex('logIdText')]]).toEqual([bytes, written]);
  });
});

describe('a url is split behind its first question mark:', () => {
  test.each<[url: string, head: string, tail: string]>([
    ['', '', ''],
    ['/', '/', ''],
    ['?', '?', ''],
    ['/a?', '/a?', ''],
    ['/a?b', '/a?', 'b'],
    ['/a??b?', '/a?', '?b?'],
    ['?a', '?', 'a'],
  ])('"%s"', (url, head, tail) => {
    const columns = columnsOf({ url });
    expect([columns[columnIndex('urlHead')], columns[columnIndex('urlTail')]]).toEqual([text(head), text(tail)]);
  });
});

test.each<[event: Written, hasUppercaseOrNonAscii: boolean]>([
  [{}, false],
  [{ url: '/Été' }, false],
  [{ url: '/A?' }, false],
  [{ url: '/?a@[`{' }, false],
  [{ url: '/?A' }, true],
  [{ url: '/?Z' }, true],
  [{ url: '/?é' }, true],
  [{ url: '/??A', ip: '::1' }, true],
  [{ ip: '::a' }, false],
  [{ ip: '::A' }, true],
  [{ ip: 'é', url: '/' }, true],
  [{ logId: 'A', feature: 'WÄF' }, false],
])('whether lower case may change the ip or the tail of the url of %o is said: %s', (event, hasUppercaseOrNonAscii) => {
  const writer = new ColumnWriter();
  add(writer, { ip: 'Ü' });
  add(writer, event);
  const masks = Buffer.concat(writer.take().masks);
  expect([masks.readUInt32LE(0), masks.readUInt32LE(4)].map((mask) => mask >>> HAS_UPPERCASE_OR_NON_ASCII_BIT)).toEqual([
    1,
    hasUppercaseOrNonAscii ? 1 : 0,
  ]);
});

test.each([0, 1, -1, 2 ** 31 - 1, -(2 ** 31)])('zone %i is written as it is', (zone) => {
  const writer = new ColumnWriter();
  add(writer, { zone });
  expect(decodedEvents(writer.take())).toMatchObject([{ shieldZoneId: zone }]);
});

test.each([0, -1, 2 ** 32 - 1, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
  'time %i is written as it is',
  (time) => {
    const writer = new ColumnWriter();
    add(writer, { time });
    expect(decodedEvents(writer.take())).toMatchObject([{ timestamp: BigInt(time) }]);
  },
);

test('both halves of an address are written with all their bits', () => {
  const writer = new ColumnWriter();
  for (const address of [0n, 1n, 0xffff_ffffn, 0x1_0000_0000n, 0x8000_0000_0000_0000n, 0xffff_ffff_ffff_ffffn]) {
    writer.address(address, address ^ 0x1234n);
    add(writer, {});
  }
  const decoded = decodedEvents(writer.take());
  expect(decoded.map(({ ipHigh }) => ipHigh)).toEqual([
    0n,
    1n,
    0xffff_ffffn,
    0x1_0000_0000n,
    0x8000_0000_0000_0000n,
    0xffff_ffff_ffff_ffffn,
  ]);
  expect(decoded.map(({ ipLow }) => (ipLow as bigint) ^ 0x1234n)).toEqual(decoded.map(({ ipHigh }) => ipHigh));
});

test('texts of every length follow one another in their column across chunks, and the size is that of all chunks', () => {
  const writer = new ColumnWriter();
  const lengths = [...Array(300).keys(), 5_000, 20_000, 3_000_000, 0, 1];
  for (const length of lengths) {
    add(writer, { feature: 'x'.repeat(length), url: `/${length}?${'y'.repeat(length)}` });
  }
  const { byteLength } = writer;
  const fields = writer.take();
  expect(decodedEvents(fields).map(({ feature }) => (feature as string).length)).toEqual(lengths);
  const chunks = [...fields.values.flat(), ...fields.masks];
  expect(chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(byteLength);
  expect(writer.byteLength).toBe(0);
  expect(writer.take()).toEqual({ values: fields.values.map(() => []), masks: [] });
});

test('no number is spread over two chunks', () => {
  const writer = new ColumnWriter();
  for (let index = 0; index < 10_000; index++) {
    writer.address(1n, 2n);
    add(writer, {});
  }
  const { values, masks } = writer.take();
  for (const [name, bytes] of [
    ['shieldZoneId', 4],
    ['timestamp', 8],
    ['ipHigh', 8],
    ['ipLow', 8],
  ] as const) {
    const chunks = values[columnIndex(name)] ?? [];
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.filter(({ length }) => length % bytes !== 0)).toEqual([]);
  }
  expect(masks.filter(({ length }) => length % 4 !== 0)).toEqual([]);
});

test('one event takes little memory', () => {
  const writer = new ColumnWriter();
  add(writer, { url: '/?a', ip: 'x', feature: 'x' });
  const { values, masks } = writer.take();
  expect(BATCH_COLUMNS.filter((_, index) => values[index]?.length === 1).map(({ name }) => name)).toEqual([
    'shieldZoneId',
    'timestamp',
    'logIdText',
    'feature',
    'ip',
    'urlHead',
    'urlTail',
  ]);
  expect(values.flat().length).toBe(7);
  expect([...values.flat(), ...masks].map(({ buffer }) => buffer.byteLength)).toEqual(Array.from({ length: 8 }, () => 1024));
});
