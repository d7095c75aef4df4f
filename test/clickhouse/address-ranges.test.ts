import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { AddressRange } from '../../query/address.ts';
import { clickhouseDialect, clickhouseStatement } from '../../sql/dialect.ts';
import { sql, textList } from '../../sql/statement.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { DatabaseReader } from './database-reader.ts';

const reader = await DatabaseReader.open();

afterAll(() => reader.close());

const LAST_ADDRESS = (1n << 128n) - 1n;
const HALF = 1n << 64n;

/** Addresses near the ends of halves, of IPv4, and anywhere. */
const ADDRESS = fc.oneof(
  fc
    .tuple(fc.constantFrom(0n, 0xffff_0000_0000n, HALF, 2n * HALF, 1n << 127n, LAST_ADDRESS - HALF, LAST_ADDRESS), fc.bigInt(-3n, 3n))
    .map(([near, by]) => {
      const address = near + by;
      return address < 0n ? 0n : address > LAST_ADDRESS ? LAST_ADDRESS : address;
    }),
  fc.bigInt(0xffff_0000_0000n, 0xffff_ffff_ffffn),
  fc.bigInt(0n, LAST_ADDRESS),
);

const RANGE: fc.Arbitrary<AddressRange> = fc.oneof(
  ADDRESS.map((address) => ({ first: address, last: address })),
  fc.tuple(ADDRESS, ADDRESS).map(([a, b]) => (a < b ? { first: a, last: b } : { first: b, last: a })),
  // A prefix.
  fc.tuple(ADDRESS, fc.nat({ max: 128 })).map(([address, bits]) => {
    const size = 1n << BigInt(bits);
    const first = (address / size) * size;
    return { first, last: first + size - 1n };
  }),
);

/** The indices of the addresses, undefined for a missing one, that the ranges have. */
async function found(addresses: readonly (bigint | undefined)[], ranges: readonly AddressRange[]): Promise<number[]> {
  const half = (of: (address: bigint) => bigint) => {
    const texts = addresses.map((address) => (address === undefined ? '' : String(of(address))));
    return sql`arrayMap(one -> toUInt64OrNull(one), ${textList(texts)})`;
  };
  const events = sql`SELECT nth, "ipHigh", "ipLow" FROM (SELECT 1) AS one
    ARRAY JOIN ${textList(addresses.map((_, index) => String(index)))} AS nth, ${half((address) => address >> 64n)} AS "ipHigh",
      ${half((address) => address & (HALF - 1n))} AS "ipLow"`;
  const statement = sql`SELECT nth FROM (${events}) AS events WHERE ${clickhouseDialect.addressIn(ranges)}`;
  return (await reader.read(clickhouseStatement(statement), {})).rows.map(([nth]) => Number(nth)).sort((a, b) => a - b);
}

test('an address is found if one of the ranges has it, however many there are', async () => {
  const drawn = fc.record({
    addresses: fc.array(ADDRESS, { minLength: 1, maxLength: 40 }),
    ranges: fc.array(RANGE, { minLength: 1, maxLength: 60 }),
  });
  await assertAsyncProperty(
    fc.asyncProperty(drawn, async ({ addresses, ranges }) => {
      const ends = ranges.flatMap(({ first, last }) => [first - 1n, first, last, last + 1n]).filter(isAddress);
      const tried = [undefined, ...addresses, ...ends];
      const expected = [...tried.keys()].filter((index) => ranges.some((range) => isIn(tried[index], range)));
      expect(await found(tried, ranges)).toEqual(expected);
    }),
  );
});

function isAddress(number: bigint): boolean {
  return number >= 0n && number <= LAST_ADDRESS;
}

function isIn(address: bigint | undefined, { first, last }: AddressRange): boolean {
  return address !== undefined && first <= address && address <= last;
}

test.each([
  ['IPv4', (nth: bigint) => 0xffff_0000_0000n + nth * 858_993n, 255n],
  ['IPv6 under one upper half each', (nth: bigint) => (0x2001n << 112n) + nth * (HALF * 3n) + 5n, 255n],
  ['whole upper halves', (nth: bigint) => (0x2001n << 112n) + nth * (HALF * 3n), HALF - 1n],
])('5,000 ranges of %s are three short conditions at most', async (_, start, size) => {
  const ranges = Array.from({ length: 5_000 }, (_, nth) => ({ first: start(BigInt(nth)), last: start(BigInt(nth)) + size }));
  const { text } = clickhouseStatement(clickhouseDialect.addressIn(ranges));
  expect(text.length).toBeLessThan(1_000);
  const tried = ranges.flatMap(({ first, last }) => [first - 1n, first, last, last + 1n]);
  expect(await found(tried, ranges)).toEqual([...tried.keys()].filter((index) => [1, 2].includes(index % 4)));
});
