import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Mapping } from '../../ingest/mapping/mapping.ts';
import { loadMappings } from '../../ingest/mapping/named-mappings.ts';
import { type MappedRecord, RecordMapper } from '../../ingest/mapping/record-mapper.ts';
import { WrongMapping } from '../../ingest/mapping/yaml-tree.ts';
import { mapRecords } from '../../ingest/upload/mapped-records.ts';
import { anyObject, arbitraryRawEvent } from '../ingest/event/arbitrary-raw-event.ts';
import { logOf, mapped, mappingOf, PRESETS, verdictOf, ZONES } from '../ingest/mapping/mapped.ts';
import { assertAsyncProperty, assertProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { damage, damaged } from './damaged-bytes.ts';

const NAMES = ['a', 'b', 'log', 'message', 'timestamp', 'records', '__proto__', 'ip'] as const;
const name = fc.constantFrom(...NAMES);
const path = fc
  .tuple(
    name,
    fc.array(
      fc.oneof(
        name.map((key) => `.${key}`),
        fc.constantFrom('[0]', '[*]', '[a=1,b]', '[b!=x]'),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([first, rest]) => `${first}${rest.join('')}`);
const quoted = (text: string): string => JSON.stringify(text);

const change = fc.constantFrom(
  ...[
    'upper: true',
    'lower: true',
    'address: true',
    'absent: [a]',
    'table: {a: b, "*": c}',
    'table: {"*.x": null}',
    'time: [iso, unix, clf]',
    'time: [ctime, "yyyy-MM-dd HH:mm:ss"]',
  ],
  ...['decode: url', 'decode: base64', 'decode: [base64, gzip, json]', 'decode: [url, {split: ";"}, base64]', 'decode: json'],
  ...['when: {a: "*"}', 'when: {"a[*].b": [1, x]}'],
);
const changes = fc.uniqueArray(change, { maxLength: 3, selector: (text) => text.split(':')[0] });
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small' },
        path.map((text) => `path: ${quoted(text)}`),
        fc.tuple(path, path).map(([one, other]) => `text: ${quoted(`x{${one}}{?${other}}`)}`),
        fc.constantFrom('const: "7"', 'const: x'),
        fc.array(tie('value'), { minLength: 1, maxLength: 2 }).map((values) => `first: [${values.join()}]`),
      ),
      changes,
    )
    .map(
      ([source, rest]) =>
        `{${[source, ...rest.filter((text) => !(text.startsWith('lower') && rest.some((one) => one.startsWith('upper'))))].join(', ')}}`,
    ),
}));

const member = fc.oneof(
  value.map((text) => ['ua', text]),
  value.map((text) => ['ip', text]),
  value.map((text) => ['asn', text]),
  value.map((text) => ['id', `[${text}]`]),
  value.map((text) => ['leaveOut', text]),
  path.map((text) => ['leaveOut', `{path: ${quoted(text)}, table: {"*": "true"}}`]),
  path.map((text) => ['zone', quoted(text)]),
  path.filter((text) => !text.includes('=')).map((text) => ['items', `{path: ${quoted(text)}, decode: [base64, gzip]}`]),
);

/** A mapping of any words, whose records have their time at `timestamp`, or anywhere. */
const anyMapping: fc.Arbitrary<Mapping> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...PRESETS.values()) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.oneof(fc.constant('timestamp'), path), fc.uniqueArray(member, { maxLength: 5, selector: ([key]) => key }))
      .map(([time, members]) => {
        const lines = members.map(([key, text]) => `${key}: ${text}\n`);
        return mappingOf(`timestamp: {path: ${quoted(time)}, time: [iso, unix]}\n${lines.join('')}`);
      }),
  },
);

const TIMES = ['1795838661558', '"1795838661.5"', '"2026-11-28T04:04:21Z"', '1795838661558123456', '1', '"-"', 'true', '1e400'];
/** Objects as members of one that has a time and the names that mappings ask for. */
const anyRecord = fc
  .tuple(fc.constantFrom(...TIMES), fc.array(fc.tuple(name, anyObject), { maxLength: 3 }))
  .map(([time, members]) => `{"timestamp":${time}${members.map(([key, object]) => `,${quoted(key)}:${object}`).join('')}}`);
const base64 = (bytes: Uint8Array): string => quoted(Buffer.from(bytes).toString('base64'));
const wrappedRecord = fc.tuple(anyRecord, fc.nat(5)).map(([record, kind]) => {
  const forms = [
    record,
    `{"log":${record}}`,
    `{"message":${quoted(record)}}`,
    `{"records":[${record},1,${quoted(record)}]}`,
    `{"records":[${base64(Buffer.from(record))},${base64(gzipSync(record))}]}`,
    `{"a":[{"b":${record}}]}`,
  ];
  return String(forms[kind]);
});
const anyBytes = fc.oneof(
  fc
    .tuple(fc.oneof(wrappedRecord, arbitraryRawEvent), fc.array(damage, { maxLength: 2 }))
    .map(([text, all]) => all.reduce(damaged, Buffer.from(text))),
  fc.uint8Array({ maxLength: 40 }),
);

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
        member.map(([key, text]) => `${key}: ${text}`),
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
        expect(error).toBeInstanceOf(WrongMapping);
        seen.faults += 1;
        const { faults } = error as WrongMapping;
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
