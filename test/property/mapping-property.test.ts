import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Mapping } from '../../ingest/mapping/mapping.ts';
import { loadMappings } from '../../ingest/mapping/named-mappings.ts';
import { type MappedRecord, RecordMapper } from '../../ingest/mapping/record-mapper.ts';
import { WrongYaml } from '../../ingest/mapping/yaml-tree.ts';
import { mapRecords } from '../../ingest/upload/mapped-records.ts';
import { logOf, mapped, mappingOf, verdictOf, ZONES } from '../ingest/mapping/mapped.ts';
import { assertAsyncProperty, assertProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { anyBytes, anyMapping, mappingMember } from './arbitrary-mapping.ts';
import { damage, damaged } from './damaged-bytes.ts';

function comparable(all: readonly MappedRecord[]): unknown {
  return all.map((one) => ({
    ...one,
    record: Buffer.from(one.record).toString('latin1'),
    event: one.kind === 'event' && one.event.toString('latin1'),
  }));
}

test('any bytes become, by any mapping, events that the intake judges, letters, or records that are left out', () => {
  const seen = { accepted: 0, expired: 0, rejected: 0, letter: 0, leftOut: 0 };
  assertProperty(
    fc.property(anyBytes, anyMapping, (bytes, mapping) => {
      const all = mapped(mapping, bytes);
      expect(all.length).toBeGreaterThan(0);
      expect(comparable(mapped(mapping, bytes))).toEqual(comparable(all));
      for (const one of all) {
        if (one.kind !== 'event') {
          seen[one.kind === 'rejected' ? 'letter' : 'leftOut'] += 1;
          expect(one.kind === 'leftOut' || one.reason.length > 0).toBe(true);
          continue;
        }
        const verdict = verdictOf(one.event);
        seen[verdict.kind] += 1;
        // What is rejected is a member that the mapping wrote, never the form of the event.
        expect(verdict.kind === 'rejected' && verdict.isJson === false ? verdict.reason : 'JSON').toBe('JSON');
        expect(logOf(one)).toBe(Buffer.from(one.record).toString());
      }
    }),
    { numRuns: propertyRuns(3_000) },
  );
  // Otherwise something was never tried.
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
});

/** Files of mappings: those of the presets, some with damage, and generated words in any order, any number of times. */
const anyFile = fc.oneof(
  fc
    .tuple(fc.constantFrom(...[...loadMappings(null).values()].map(({ text }) => text)), fc.array(damage, { minLength: 1, maxLength: 3 }))
    .map(([text, all]) => all.reduce(damaged, Buffer.from(text)).toString()),
  fc
    .array(
      fc.oneof(
        mappingMember.map(([key, text]) => `${key}: ${text}`),
        fc.constantFrom('timestamp: {path: t, time: unix}', 'preset: aws-waf', 'preset: own', 'preset: [own]', 'timezone: "+01:00"'),
        fc.constantFrom(
          'a: &a [*a]',
          'ua: &x {path: *x}',
          '<<: {ua: a}',
          '? {a: b}',
          '---',
          '%YAML 1.1',
          'ua: !!binary eA==',
          'ua: |',
          '\0',
        ),
      ),
      { maxLength: 6 },
    )
    .map((lines) => lines.join('\n')),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

test('any file is a mapping, or its faults each name a line', () => {
  const seen = { mapping: 0, faults: 0 };
  assertProperty(
    fc.property(anyFile, anyBytes, (file, bytes) => {
      let mapping: Mapping;
      try {
        mapping = mappingOf(file);
      } catch (error) {
        expect(error).toBeInstanceOf(WrongYaml);
        seen.faults += 1;
        const { faults } = error as WrongYaml;
        expect(faults.length).toBeGreaterThan(0);
        for (const fault of faults) expect(fault).toMatch(/^line [1-9]\d*: ./);
        return;
      }
      seen.mapping += 1;
      expect(mapped(mapping, bytes).length).toBeGreaterThan(0);
    }),
    { numRuns: propertyRuns(1_000) },
  );
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
});

test('an input that is cut into chunks anywhere has the same records', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(
      fc.array(anyBytes, { maxLength: 5 }),
      anyMapping,
      fc.array(fc.nat(300), { maxLength: 6 }),
      async (parts, mapping, cuts) => {
        const input = Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]));
        const whole = await recordsOf([input], mapping);
        const ends = [...cuts.filter((at) => at < input.length).sort((one, other) => one - other), input.length];
        const chunks = ends.map((end, index) => input.subarray(ends[index - 1] ?? 0, end));
        expect(await recordsOf(chunks, mapping)).toEqual(whole);
      },
    ),
    { numRuns: propertyRuns(300) },
  );
});

/** What becomes of an input, and the error that ends it. */
async function recordsOf(chunks: readonly Buffer[], mapping: Mapping): Promise<unknown> {
  const all: MappedRecord[] = [];
  const keep = (one: MappedRecord): void => void all.push(one.kind === 'event' ? one : { ...one, record: Uint8Array.from(one.record) });
  async function* each(): AsyncIterable<Uint8Array> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  try {
    await mapRecords(each(), new RecordMapper(mapping, ZONES), keep, async () => undefined);
    return comparable(all.map((one) => (one.kind === 'event' ? { ...one, record: Buffer.from(one.record) } : one)));
  } catch (error) {
    return String(error);
  }
}
