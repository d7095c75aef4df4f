import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markOf, PACKED_FIELDS } from '../../../../query/packed-log.ts';
import { PackedLog, unpackLog } from '../../../../store/embedded/blob/unpacked-log.ts';
import { unpacked } from '../../../ingest/event/plain-packing.ts';
import { assertProperty } from '../../../random/assert-property.ts';

type Fields = Readonly<Partial<Record<(typeof PACKED_FIELDS)[number], string>>>;

/** Its marks by the words of their definition, one field after the other. */
function plainly(packed: string, fields: Fields): string {
  return unpacked(packed, Object.fromEntries(PACKED_FIELDS.map((name) => [name, fields[name] ?? ''])));
}

const value = fc.string({ unit: fc.constantFrom('a', '"', '$&', '\0', 'é', '漢', '😀') });
const fields = fc.record({ url: value, ip: value, ruleName: value, ruleId: value }, { requiredKeys: [] });
const mark = fc.integer({ min: 0, max: PACKED_FIELDS.length - 1 }).map(markOf);
const between = fc.oneof(
  value,
  fc.nat(200).map((length) => 'é,'.repeat(length)),
);
/** Long stretches without a mark, stretches full of them, and every change between both. */
const packed = fc
  .array(
    fc.oneof(
      mark,
      between,
      fc.tuple(mark, fc.nat(300)).map(([one, times]) => one.repeat(times)),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

describe('a packed log', () => {
  test('is unpacked as replacing one mark after the other unpacks it', () => {
    assertProperty(
      fc.property(packed, fields, (text, given) => {
        expect(unpackLog(Buffer.from(text), given).toString()).toBe(plainly(text, given));
      }),
    );
  });

  test('has its length before it is written, and is written where there is room, beside what stands there', () => {
    assertProperty(
      fc.property(packed, fields, fc.nat(9), (text, given, at) => {
        const log = new PackedLog(Buffer.from(text), (nth) => Buffer.from(given[PACKED_FIELDS[nth] as 'url'] ?? ''));
        const bytes = Buffer.alloc(at + log.size + 1, '|');
        log.writeTo(bytes, at);
        expect(bytes.toString()).toBe(`${'|'.repeat(at)}${plainly(text, given)}|`);
      }),
    );
  });

  test('asks for each value once, and only for those that it repeats', () => {
    const asked: number[] = [];
    const log = new PackedLog(Buffer.from(`{"a":"${markOf(2)}","b":"${markOf(0)}${markOf(2)}"}`), (nth) => {
      asked.push(nth);
      return Buffer.from('value');
    });
    expect([log.size, asked]).toEqual(['{"a":"value","b":"valuevalue"}'.length, [2, 0]]);
  });

  test('that is full of marks is unpacked whole', () => {
    const url = 'https://shop.example/';
    expect(unpackLog(Buffer.alloc(50_000, 1), { url }).toString()).toBe(url.repeat(50_000));
  });
});
