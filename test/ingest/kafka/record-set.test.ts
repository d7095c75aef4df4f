import { gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecordSet } from '../../../ingest/kafka/record-set.ts';
import { MAX_UNPACKED_BYTES } from '../../../ingest/kafka/unpacked-bytes.ts';
import { assertProperty } from '../../random/assert-property.ts';
import {
  type BuiltRecord,
  builtBatch,
  builtMessage,
  builtRecord,
  CODEC,
  inHalves,
  PACK,
  type Pack,
  readAll,
  SKIPPABLE,
  xerial,
} from './built-batch.ts';

const records = (count: number, size = 40): BuiltRecord[] =>
  Array.from({ length: count }, (_, index) => ({ value: Buffer.from(`${index}`.padEnd(size, 'x')) }));

const RECORDS = records(2000);
const TEXTS = RECORDS.map(({ value }) => String(value));
const readSet = (set: Buffer) => readAll(decodeRecordSet(set));
const texts = (set: Buffer) => readSet(set).records.map(({ value }) => value);
const offsets = (set: Buffer) => readSet(set).records.map(({ offset }) => offset);
/** The last offset that each message covers. */
const passed = (set: Buffer) => readSet(set).passed;
const faultOf = (set: Buffer) => readSet(set).fault;

describe('the records of a batch', () => {
  it('are as many as it has, of any number up to 500,000', () => {
    const pieces = Array.from({ length: 500_000 }, (_, index) => builtRecord({ value: Buffer.from(String(index)) }, index));
    const check = (count: number, codec: number, pack: Pack): void => {
      const plain = Buffer.concat(pieces.slice(0, count));
      const batch = builtBatch({ base: 5n, records: [], count, lastDelta: count - 1, codec, pack: () => pack(plain) });
      const { records: decoded } = readSet(batch);
      expect(decoded.length).toBe(count);
      expect([decoded[0]?.offset, decoded.at(-1)?.offset]).toEqual(['5', String(count + 4)]);
      expect(decoded.at(-1)?.value).toBe(String(count - 1));
    };
    check(130_000, CODEC.zstd, PACK.zstd);
    check(500_000, CODEC.none, (plain) => plain);
    assertProperty(
      fc.property(fc.integer({ min: 1, max: 500_000 }), fc.constantFrom('gzip', 'snappy', 'lz4', 'zstd'), (count, name) =>
        check(count, CODEC[name], PACK[name]),
      ),
      { numRuns: 4 },
    );
  });

  it.each<[string, number, Pack]>([
    ['not packed', CODEC.none, (plain) => plain],
    ['one member of gzip', CODEC.gzip, PACK.gzip],
    ['two members of gzip', CODEC.gzip, inHalves(PACK.gzip)],
    ['an empty member of gzip between others', CODEC.gzip, (plain) => Buffer.concat([gzipSync(''), PACK.gzip(plain), gzipSync('')])],
    ['a member of gzip with a name, a comment, an extra field and a checksum', CODEC.gzip, namedGzip],
    ['gzip with NULs behind it', CODEC.gzip, (plain) => Buffer.concat([PACK.gzip(plain), Buffer.alloc(100)])],
    ['gzip with other bytes behind it', CODEC.gzip, (plain) => Buffer.concat([PACK.gzip(plain), Buffer.from('no further member')])],
    ['a bare block of snappy', CODEC.snappy, PACK.snappy],
    ['a xerial stream of snappy', CODEC.snappy, xerial],
    ['two xerial streams of snappy', CODEC.snappy, inHalves(xerial)],
    ['one frame of lz4', CODEC.lz4, PACK.lz4],
    ['two frames of lz4', CODEC.lz4, inHalves(PACK.lz4)],
    ['lz4 behind a skippable frame', CODEC.lz4, (plain) => Buffer.concat([SKIPPABLE, PACK.lz4(plain)])],
    ['lz4 with other bytes behind it', CODEC.lz4, (plain) => Buffer.concat([PACK.lz4(plain), Buffer.from('no further frame')])],
    ['one frame of zstd', CODEC.zstd, PACK.zstd],
    ['two frames of zstd', CODEC.zstd, inHalves(PACK.zstd)],
    ['an empty frame of zstd in front', CODEC.zstd, (plain) => Buffer.concat([zstdCompressSync(Buffer.alloc(0)), PACK.zstd(plain)])],
    ['zstd behind a skippable frame', CODEC.zstd, (plain) => Buffer.concat([SKIPPABLE, PACK.zstd(plain)])],
    ['zstd between skippable frames', CODEC.zstd, (plain) => Buffer.concat([SKIPPABLE, SKIPPABLE, PACK.zstd(plain), SKIPPABLE])],
  ])('are read whole: %s', (_name, codec, pack) => {
    expect(texts(builtBatch({ records: RECORDS, codec, pack }))).toEqual(TEXTS);
  });

  it('are read whole in any parts of any codec', () => {
    const cuts = fc.array(fc.nat(500_000), { maxLength: 6 });
    assertProperty(
      fc.property(fc.constantFrom('gzip', 'snappy', 'lz4', 'zstd'), cuts, fc.nat(300), (name, at, size) => {
        const inParts: Pack = (plain) => {
          const edges = [0, ...at.map((each) => each % plain.length), plain.length].sort((one, other) => one - other);
          const pack = name === 'snappy' ? xerial : PACK[name];
          return Buffer.concat(edges.slice(1).map((edge, index) => pack(plain.subarray(edges[index], edge))));
        };
        const sent = records(1000, size);
        expect(texts(builtBatch({ records: sent, codec: CODEC[name], pack: inParts }))).toEqual(sent.map(({ value }) => String(value)));
      }),
      { numRuns: 30 },
    );
  });

  it('may have keys, headers and no value', () => {
    const sent: BuiltRecord[] = [
      {
        value: null,
        key: Buffer.from('k'),
        headers: [
          ['a', Buffer.from('1')],
          ['b', null],
          ['a', Buffer.alloc(0)],
        ],
      },
      { value: Buffer.alloc(0) },
      { value: Buffer.from('v') },
    ];
    expect(texts(builtBatch({ records: sent }))).toEqual([null, '', 'v']);
  });

  it('of control batches have their keys, and say so', () => {
    const key = Buffer.from([0, 0, 0, 1]);
    const [marker] = decodeRecordSet(builtBatch({ records: [{ value: null, key }], attributes: 0x30 }));
    expect(marker).toMatchObject({ key, isControlRecord: true, batchContext: { producerId: '7', inTransaction: true } });
  });

  it('that compaction has removed are passed over, also where none is left', () => {
    const records = [
      { value: null, delta: 2 },
      { value: null, delta: 5 },
    ];
    const batch = builtBatch({ base: 10n, records, lastDelta: 9 });
    expect([offsets(batch), passed(batch)]).toEqual([['12', '15'], ['19']]);
    const empty = builtBatch({ base: 10n, records: [], lastDelta: 9, codec: CODEC.zstd });
    expect([offsets(empty), passed(empty)]).toEqual([[], ['19']]);
    const key = Buffer.from([0, 0, 0, 1]);
    const control = builtBatch({ base: 10n, records: [{ value: null, key }], lastDelta: 3, attributes: 0x20 });
    expect([offsets(control), passed(control)]).toEqual([[], ['10', '13']]);
  });

  it('of several batches follow one another, and a last one that is cut off is left out', () => {
    const set = Buffer.concat([builtBatch({ base: 0n, records: records(2) }), builtBatch({ base: 2n, records: records(3) })]);
    expect(offsets(set)).toEqual(['0', '1', '2', '3', '4']);
    for (let cut = 1; cut < builtBatch({ records: records(3) }).length; cut++) expect(offsets(set.subarray(0, -cut))).toEqual(['0', '1']);
    expect(decodeRecordSet(Buffer.alloc(0))).toEqual([]);
  });
});

describe('messages of the formats before batches', () => {
  const inner = (magic: 0 | 1, first: bigint) => RECORDS.map(({ value }, index) => builtMessage(magic, first + BigInt(index), value));
  const wrapped = (magic: 0 | 1, first: bigint, last: bigint): Buffer =>
    builtMessage(magic, last, PACK.gzip(Buffer.concat(inner(magic, first))), CODEC.gzip);

  it.each<[string, Buffer]>([
    ['magic 0', Buffer.concat(inner(0, 100n))],
    ['magic 1', Buffer.concat(inner(1, 100n))],
    ['magic 0, packed', wrapped(0, 100n, 2099n)],
    ['magic 1, packed', wrapped(1, 0n, 2099n)],
  ])('%s', (_name, set) => {
    expect(texts(set)).toEqual(TEXTS);
    expect([offsets(set)[0], offsets(set).at(-1)]).toEqual(['100', '2099']);
  });

  it('130,000 of them in one', () => {
    const set = Buffer.concat(Array.from({ length: 130_000 }, (_, index) => builtMessage(1, BigInt(index), Buffer.from('x'))));
    expect(texts(builtMessage(1, 129_999n, PACK.gzip(set), CODEC.gzip)).length).toBe(130_000);
  });

  it('is damaged where its CRC-32 says so', () => {
    const set = Buffer.concat(inner(1, 0n).slice(0, 3));
    set[set.length - 1] = 0x79;
    expect(offsets(set)).toEqual(['0', '1']);
    expect(faultOf(set)).toMatchObject({ reason: expect.stringMatching(/^is damaged: its CRC-32 is \w{8} and not \w{8}/), next: 3n });
  });
});

describe('a batch that cannot be decoded', () => {
  const good = builtBatch({ base: 0n, records: records(2) });
  const zeros =
    (size: number): Pack =>
    () =>
      zstdCompressSync(Buffer.alloc(size));

  it.each<[string, Buffer, reason: string | RegExp, next: bigint | null]>([
    [
      'a wrong CRC-32C',
      changed(builtBatch({ base: 2n, records: records(3) }), 70),
      /^is damaged: its CRC-32C is \w{8} and not \w{8}, as its header has it$/,
      5n,
    ],
    ['a damaged last offset', changed(builtBatch({ base: 2n, records: records(3) }), 26), /CRC-32C/, null],
    ['a damaged number of records', changed(builtBatch({ base: 2n, records: records(3) }), 60), /CRC-32C/, null],
    ['another magic', changed(builtBatch({ base: 2n, records: records(3) }), 16), 'has the magic 3; allowed: 0 to 2', null],
    [
      'an unknown compression',
      builtBatch({ base: 2n, records: records(3), codec: 6 }),
      'has the compression 6; allowed: 0 (none) to 4 (zstd)',
      5n,
    ],
    [
      'broken zstd',
      packed('zstd', (bytes) => Buffer.concat([bytes.subarray(0, -9), Buffer.from('123456789')])),
      /^has zstd data that cannot be unpacked behind byte 0: /,
      5n,
    ],
    ['cut zstd', packed('zstd', (bytes) => bytes.subarray(0, -1)), /^has zstd data that cannot be unpacked behind byte 0: /, 5n],
    [
      'zstd with other bytes behind it',
      packed('zstd', (bytes) => Buffer.concat([bytes, Buffer.from('12345')])),
      /^has zstd data that cannot be unpacked behind byte \d\d: /,
      5n,
    ],
    [
      'broken gzip',
      packed('gzip', (bytes) => changed(bytes, bytes.length - 6)),
      /^has gzip data that cannot be unpacked behind byte 0: its bytes are not those/,
      5n,
    ],
    ['cut gzip', packed('gzip', (bytes) => bytes.subarray(0, -12)), /^has gzip data that cannot be unpacked/, 5n],
    [
      'what is no gzip',
      packed('gzip', () => Buffer.from('hello')),
      'has gzip data that cannot be unpacked behind byte 0: it has no header of gzip',
      5n,
    ],
    ['broken lz4', packed('lz4', (bytes) => changed(bytes, 9)), /^has lz4 data that cannot be unpacked behind byte 0: /, 5n],
    ['cut lz4', packed('lz4', (bytes) => bytes.subarray(0, -5)), /^has lz4 data that cannot be unpacked behind byte 0: /, 5n],
    ['broken snappy', packed('snappy', (bytes) => changed(bytes, 1)), /^has /, 5n],
    [
      'a cut xerial stream',
      builtBatch({ base: 2n, records: records(3), codec: CODEC.snappy, pack: (plain) => xerial(plain).subarray(0, -1) }),
      /^has snappy data that cannot be unpacked behind byte 16: a block has/,
      5n,
    ],
    ['too few records', builtBatch({ base: 2n, records: records(3), count: 4, lastDelta: 3 }), 'has a record 3 that is cut off', 6n],
    ['too many records', builtBatch({ base: 2n, records: records(3), count: 2, lastDelta: 1 }), /^has \d+ bytes behind its 2 records$/, 4n],
    [
      'half of its records behind other bytes',
      builtBatch({
        base: 2n,
        records: records(3),
        codec: CODEC.gzip,
        pack: (plain) => Buffer.concat([PACK.gzip(plain.subarray(0, 40)), Buffer.from('??'), PACK.gzip(plain.subarray(40))]),
      }),
      /^has a record \d/,
      5n,
    ],
    [
      'records out of order',
      builtBatch({
        base: 2n,
        records: [
          { value: null, delta: 1 },
          { value: null, delta: 0 },
        ],
        lastDelta: 1,
      }),
      'has a record 1 at offset 2, outside 4 to 3',
      4n,
    ],
    [
      'a record behind its last offset',
      builtBatch({ base: 2n, records: records(3), lastDelta: 1 }),
      'has a record 2 at offset 4, outside 4 to 3',
      4n,
    ],
    [
      'a record of a wrong length',
      builtBatch({ base: 2n, records: records(3), pack: (plain) => changed(plain, 0) }),
      /^has a record 0 that /,
      5n,
    ],
    [
      'a bomb of zstd',
      builtBatch({ base: 2n, records: records(3), codec: CODEC.zstd, pack: zeros(1 << 30) }),
      'unpacks to more than 64 MiB of zstd',
      5n,
    ],
    [
      'a bomb of zstd in two frames',
      builtBatch({
        base: 2n,
        records: records(3),
        codec: CODEC.zstd,
        pack: (plain) => Buffer.concat([zeros(40 << 20)(plain), zeros(40 << 20)(plain)]),
      }),
      'unpacks to more than 64 MiB of zstd',
      5n,
    ],
    [
      'a bomb of gzip',
      builtBatch({ base: 2n, records: records(3), codec: CODEC.gzip, pack: () => gzipSync(Buffer.alloc(MAX_UNPACKED_BYTES + 1)) }),
      'unpacks to more than 64 MiB of gzip',
      5n,
    ],
    [
      'a bomb of lz4',
      builtBatch({ base: 2n, records: records(3), codec: CODEC.lz4, pack: () => PACK.lz4(Buffer.alloc(MAX_UNPACKED_BYTES + 1)) }),
      'unpacks to more than 64 MiB of lz4',
      5n,
    ],
    [
      'a bomb of snappy',
      builtBatch({ base: 2n, records: records(3), codec: CODEC.snappy, pack: () => Buffer.from('ffffffff0f00', 'hex') }),
      'unpacks to more than 64 MiB of snappy',
      5n,
    ],
  ])('%s', (_name, bad, reason, next) => {
    const after = builtBatch({ base: 6n, records: records(2) });
    const { records: decoded, fault } = readSet(Buffer.concat([good, bad, after]));
    expect(decoded.map(({ offset }) => offset)).toEqual(['0', '1']);
    expect(fault).toMatchObject({ reason: typeof reason === 'string' ? reason : expect.stringMatching(reason), next });
    expect(fault?.bytes.equals(bad)).toBe(true);
  });

  it('is the first, cut off: a broker sends that one whole', () => {
    const cut = builtBatch({ records: records(3) }).subarray(0, 100);
    expect(faultOf(cut)).toMatchObject({ reason: expect.stringMatching(/^has \d+ bytes by its header, of which 100 came$/), next: null });
    expect(faultOf(cut.subarray(0, 10))).toMatchObject({ reason: 'has only 10 bytes', next: null });
  });

  it('does not tell where it ends if the batch behind it begins before that', () => {
    const bad = builtBatch({ base: 0n, records: records(3), crc: 1 });
    expect(faultOf(Buffer.concat([bad, builtBatch({ base: 3n, records: records(1) })]))?.next).toBe(3n);
    expect(faultOf(Buffer.concat([bad, builtBatch({ base: 2n, records: records(1) })]))?.next).toBeNull();
  });

  it('may have any bytes: decoding never throws, and gives no record that is not there', () => {
    const whole = Buffer.concat([
      builtBatch({ records: records(5), codec: CODEC.zstd, pack: PACK.zstd }),
      builtBatch({ base: 5n, records: records(5) }),
    ]);
    const sent = texts(whole);
    assertProperty(
      fc.property(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }), (changes) => {
        const damaged = Buffer.from(whole);
        for (const [at, byte] of changes) damaged[at] = byte;
        for (const value of texts(damaged)) expect(sent).toContain(value);
      }),
      { numRuns: 500 },
    );
    assertProperty(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void readSet(Buffer.from(bytes))),
      { numRuns: 500 },
    );
  });
});

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] as number) ^ 1;
  return copy;
}

function packed(name: keyof typeof PACK, damage: Pack): Buffer {
  return builtBatch({ base: 2n, records: records(3), codec: CODEC[name], pack: (plain) => damage(PACK[name](plain)) });
}

function namedGzip(plain: Buffer): Buffer {
  const member = gzipSync(plain);
  const header = Buffer.from(member.subarray(0, 10));
  header[3] = 2 | 4 | 8 | 16;
  const more = Buffer.from([...[3, 0, 1, 2, 3], ...Buffer.from('name\0'), ...Buffer.from('comment\0'), ...[0, 0]]);
  return Buffer.concat([header, more, member.subarray(10)]);
}
