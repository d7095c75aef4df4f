import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takeBulk } from '../../../ingest/doors/bulk.ts';
import type { TakeApart } from '../../../ingest/doors/envelope.ts';
import { takeFirehose } from '../../../ingest/doors/firehose.ts';
import { takeOtlpJson } from '../../../ingest/doors/otlp-json.ts';
import { takeOtlpProtobuf } from '../../../ingest/doors/otlp-protobuf.ts';
import { takeHecEvents } from '../../../ingest/doors/splunk-hec.ts';
import { otlpJson, otlpProtobuf, textRecord } from '../../fixtures/otlp-requests.ts';
import { assertProperty } from '../../random/assert-property.ts';

const take = (envelope: TakeApart, body: Uint8Array) => envelope(Buffer.concat([body, Buffer.of(0)]));

const record = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));

interface Protocol {
  readonly takeApart: TakeApart;
  /** One item of an envelope. */
  readonly itemOf: (record: string) => string;
  readonly envelopeOf: (items: readonly string[]) => string | Buffer;
  /** Whether an envelope that ends behind an item is whole. */
  readonly endsAnywhere: boolean;
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  "Splunk's collector": {
    takeApart: takeHecEvents,
    itemOf: (one) => `{"event":${one}}`,
    envelopeOf: (items) => items.join(''),
    endsAnywhere: true,
  },
  "Elasticsearch's bulk requests": {
    takeApart: takeBulk,
    itemOf: (one) => `{"index":{}}\n${one}\n`,
    envelopeOf: (items) => items.join(''),
    endsAnywhere: true,
  },
  Firehose: {
    takeApart: takeFirehose,
    itemOf: (one) => JSON.stringify({ data: Buffer.from(one).toString('base64') }),
    envelopeOf: (items) => `{"requestId":"r","records":[${items.join(',')}]}`,
    endsAnywhere: false,
  },
  'OTLP in protobuf': {
    takeApart: takeOtlpProtobuf,
    itemOf: (one) => one,
    // Messages back to back are one, which has the items of both.
    envelopeOf: (items) => Buffer.concat(items.map((one) => otlpProtobuf([textRecord(one)]))),
    endsAnywhere: true,
  },
  'OTLP in JSON': {
    takeApart: takeOtlpJson,
    itemOf: (one) => one,
    envelopeOf: (items) => otlpJson(items.map(textRecord)),
    endsAnywhere: false,
  },
};

test.each(Object.entries(PROTOCOLS))('an envelope of %s is whole or a fault, wherever it is cut', (_name, protocol) => {
  const { takeApart, itemOf, envelopeOf, endsAnywhere } = protocol;
  assertProperty(
    fc.property(fc.array(record, { minLength: 1, maxLength: 6 }), fc.nat(), (records, at) => {
      const items = records.map(itemOf);
      const whole = Buffer.from(envelopeOf(items) as string);
      const ends = items.map((_, index) => Buffer.byteLength(envelopeOf(items.slice(0, index + 1))));
      const cut = at % whole.length;
      const taken = take(takeApart, whole.subarray(0, cut));
      const isBorder = endsAnywhere && (cut === 0 || ends.includes(cut));
      expect(taken.kind).toBe(isBorder ? 'records' : 'fault');
      expect(take(takeApart, whole)).toMatchObject({ kind: 'records', records: { count: records.length } });
    }),
  );
});

test.each(Object.entries(PROTOCOLS))('any bytes are taken apart by %s, or are a fault: nothing throws', (_name, protocol) => {
  const { takeApart, itemOf, envelopeOf } = protocol;
  // An envelope, some of whose bytes are others.
  const changed = fc
    .tuple(
      fc.array(record, { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 3 })), { maxLength: 4 }),
    )
    .map(([records, changes]) => {
      const whole = Buffer.from(envelopeOf(records.map(itemOf)) as string);
      for (const [at, bytes] of changes) whole.set(bytes.subarray(0, whole.length - (at % whole.length)), at % whole.length);
      return whole;
    });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(...'{}[]":,\\n\\event index data ') }).map((text) => Buffer.from(text)),
    changed,
  );
  assertProperty(
    fc.property(bytes, (body) => {
      const taken = take(takeApart, body);
      if (taken.kind === 'fault') expect(taken.reason).not.toBe('');
      else expect(taken.records.ends.every((end, index) => end > (taken.records.starts[index] ?? end))).toBe(true);
    }),
  );
});
