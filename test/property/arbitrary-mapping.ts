import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Mapping } from '../../ingest/mapping/mapping.ts';
import { anyObject, arbitraryRawEvent } from '../ingest/event/arbitrary-raw-event.ts';
import { mappingOf, PRESETS } from '../ingest/mapping/mapped.ts';
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

/** A member of a mapping with its value, as a file has them. */
export const mappingMember = fc.oneof(
  value.map((text) => ['ua', text]),
  value.map((text) => ['ip', text]),
  value.map((text) => ['asn', text]),
  value.map((text) => ['id', `[${text}]`]),
  // What a constant or a table gives has to be true or false.
  value.filter((text) => !/const|table/.test(text)).map((text) => ['leaveOut', text]),
  path.map((text) => ['leaveOut', `{path: ${quoted(text)}, table: {"*": "true"}}`]),
  path.map((text) => ['zone', quoted(text)]),
  path.filter((text) => !text.includes('=')).map((text) => ['items', `{path: ${quoted(text)}, decode: [base64, gzip]}`]),
);

/** A mapping of any words, whose records have their time at `timestamp`, or anywhere. */
export const anyMapping: fc.Arbitrary<Mapping> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...PRESETS.values()) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.oneof(fc.constant('timestamp'), path), fc.uniqueArray(mappingMember, { maxLength: 5, selector: ([key]) => key }))
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
/** A record of any kind, which may be damaged, or any bytes. */
export const anyBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc
    .tuple(fc.oneof(wrappedRecord, arbitraryRawEvent), fc.array(damage, { maxLength: 2 }))
    .map(([text, all]) => all.reduce(damaged, Buffer.from(text))),
  fc.uint8Array({ maxLength: 40 }),
);
