import { gzipSync } from 'node:zlib';
import { PbfWriter } from 'pbf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MOST_ENVELOPE_BYTES } from '../../../../ingest/doors/envelope.ts';
import { anyValueOf, otlpJson, otlpProtobuf, textRecord } from '../../../fixtures/otlp-requests.ts';
import { ask, eventLine, lastHour, type RunningApp, search, startApp } from '../../running-app.ts';

const MIB = 1024 * 1024;

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

/** So many of a text as go into a body with this around them. */
const filled = (before: string, text: string, behind: string, mostBytes = MOST_ENVELOPE_BYTES): string =>
  before + text.repeat(Math.floor((mostBytes - before.length - behind.length - 2) / text.length)) + behind;

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const base64 = (text: string | Buffer): string => Buffer.from(text as string).toString('base64');
const ofFirehose = (...data: readonly string[]): string => JSON.stringify({ records: data.map((one) => ({ data: one })) });
const GZIP = { 'content-encoding': 'gzip' };
const JSON_TYPE = { 'content-type': 'application/json' };
const NDJSON = { 'content-type': 'application/x-ndjson' };

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const AROUND_RECORDS = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[';

/** A message in a field of another. */
const message = (field: number, inside: Uint8Array): Buffer => {
  const writer = new PbfWriter();
  writer.writeBytesField(field, inside);
  return Buffer.from(writer.finish());
};
/** So many lists inside one another. */
const listOf = (levels: number): Uint8Array =>
  Array.from({ length: levels }).reduce<Uint8Array>((inside) => message(5, message(1, inside)), new Uint8Array(0));
const inRecords = (records: Uint8Array): Buffer => message(1, message(2, records));
const inRecord = (fields: Uint8Array): Buffer => inRecords(message(2, fields));

/** Values in which a key comes behind its value, so that it is looked for to the end, on each level that is written. */
function manyDeepValues(): string {
  const one = `${'{"value":{"kvlistValue":{"values":['.repeat(40)}${']}},"key":"a"}'.repeat(40)}`;
  return filled(`${AROUND_RECORDS}{"attributes":[`, `${one},`, `${one}]}]}]}]}`);
}

/** What each door answers: how its body begins, and its status for the worst bodies that there are. */
const DOORS = {
  '/services/collector': {
    shape: '{"text"',
    bodies: [
      ['a record of 10,000 levels', () => `{"event":${deep(10_000)}}`, {}, 400],
      ['a million empty records', () => '{"event":{}}'.repeat(1_000_000), {}, 400],
      ['as many empty objects as fit', () => filled('', '{}', ''), {}, 400],
      ['as many texts as fit', () => filled('', '{"event":"\\u0041"}', ''), {}, 413],
      ['brackets that never close', () => filled('{"event":', '[', ''), {}, 400],
      ['halves of surrogate pairs', () => filled('{"event":"', '\\ud800', '"}'), {}, 400],
      ['zeros in gzip', () => gzipSync(Buffer.alloc(1024 * MIB, ' ')), GZIP, 413],
    ],
  },
  '/services/collector/raw': {
    shape: '{"text"',
    bodies: [
      ['as many lines as fit', () => filled('', 'x\n', ''), {}, 413],
      ['nothing but newlines', () => '\n'.repeat(MOST_ENVELOPE_BYTES), {}, 400],
      ['one line', () => 'x'.repeat(MOST_ENVELOPE_BYTES), {}, 400],
    ],
  },
  '/services/collector/ack?channel=c': {
    shape: '{"text"',
    bodies: [
      ['as many ids as fit', () => filled('{"acks":[', '1,', '1]}'), {}, 413],
      ['brackets that never close', () => '['.repeat(MIB), {}, 400],
    ],
  },
  '/ingest/firehose': {
    shape: '{"requestId"',
    bodies: [
      ['a record of 10,000 levels', () => ofFirehose(base64(deep(10_000))), JSON_TYPE, 400],
      ['as many empty records as fit', () => filled('{"records":[', '{"data":""},', '{"data":""}]}'), JSON_TYPE, 413],
      ['as many of one byte as fit', () => filled('{"records":[', '{"data":"eA=="},', '{"data":""}]}'), JSON_TYPE, 413],
      ['brackets that never close', () => filled('{"records":', '[', ''), JSON_TYPE, 400],
      ['as many lists as fit', () => filled('{"records":[', '[],', '[]]}'), JSON_TYPE, 400],
      ['zeros in gzip', () => ofFirehose(base64(gzipSync(Buffer.alloc(200 * MIB)))), JSON_TYPE, 413],
      ['base64 of base64', () => ofFirehose(base64(base64(base64(eventLine())))), JSON_TYPE, 400],
      [
        'a subscription with as many messages as fit',
        () => ofFirehose(base64(`{"messageType":"DATA_MESSAGE","logEvents":[${'{},'.repeat(7 * MIB)}{}]}`)),
        JSON_TYPE,
        413,
      ],
    ],
  },
  '/v1/logs?as=json': {
    shape: '{"code"',
    bodies: [
      ['a text of 10,000 levels', () => otlpJson([textRecord(deep(10_000))]), JSON_TYPE, 400],
      [
        'a list of 10,000 levels',
        () => `${AROUND_RECORDS}{"body":${'{"arrayValue":{"values":['.repeat(10_000)}${']}}'.repeat(10_000)}}]}]}]}`,
        JSON_TYPE,
        400,
      ],
      ['as many empty records as fit', () => filled(AROUND_RECORDS, '{},', '{}]}]}]}'), JSON_TYPE, 413],
      ['as many empty lists as fit', () => filled('{"resourceLogs":[', '{},', '{}]}'), JSON_TYPE, 200],
      ['brackets that never close', () => filled('{"resourceLogs":[{"a":', '[', ''), JSON_TYPE, 400],
      ['values that never close', () => filled(`${AROUND_RECORDS}{"body":`, '{"arrayValue":{"values":[', ''), JSON_TYPE, 400],
      ['values inside one another, as often as they fit', () => manyDeepValues(), JSON_TYPE, 400],
      ['a text of nothing but escapes', () => filled(`${AROUND_RECORDS}{"body":{"stringValue":"`, '\\u0001', '"}}]}]}]}'), JSON_TYPE, 400],
      ['a key of nothing but escapes', () => filled(`${AROUND_RECORDS}{"attributes":[{"key":"`, '\\n', '"}]}]}]}]}'), JSON_TYPE, 400],
    ],
  },
  '/v1/logs': {
    // The code of a Status is its first field.
    shape: '\u0008',
    bodies: [
      ['a text of 10,000 levels', () => otlpProtobuf([textRecord(deep(10_000))]), PROTOBUF, 400],
      ['a list of 10,000 levels', () => inRecord(message(5, listOf(10_000))), PROTOBUF, 400],
      ['as many empty records as fit', () => inRecords(Buffer.alloc(MOST_ENVELOPE_BYTES - 100, Uint8Array.of(0x12, 0))), PROTOBUF, 413],
      ['as many empty lists as fit', () => Buffer.alloc(MOST_ENVELOPE_BYTES, Uint8Array.of(0x0a, 0)), PROTOBUF, 200],
      ['a length past the end', () => Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0x0f), PROTOBUF, 400],
      ['a varint that never ends', () => Buffer.alloc(MOST_ENVELOPE_BYTES, 0xff), PROTOBUF, 400],
      ['a body as often as it fits', () => inRecord(Buffer.alloc(MOST_ENVELOPE_BYTES - 100, Uint8Array.of(0x2a, 0))), PROTOBUF, 400],
      ['as many attributes as fit', () => inRecord(Buffer.alloc(MOST_ENVELOPE_BYTES - 100, Uint8Array.of(0x32, 0))), PROTOBUF, 413],
      ['control characters', () => otlpProtobuf([{ body: anyValueOf({ a: '\u0001'.repeat(20 * MIB) }) }]), PROTOBUF, 413],
      ['zeros in gzip', () => gzipSync(Buffer.alloc(1024 * MIB)), { ...PROTOBUF, ...GZIP }, 413],
    ],
  },
  '/_bulk': {
    shape: '{"error"',
    bodies: [
      ['a million empty items', () => '{"index":{}}\n{}\n'.repeat(1_000_000), NDJSON, 413],
      ['as many items of nothing as are allowed', () => '{"index":{}}\n{}\n'.repeat(50_000), NDJSON, 200],
      ['nothing but newlines', () => '\n'.repeat(MOST_ENVELOPE_BYTES), NDJSON, 200],
      ['one line', () => filled('{"index":', '[', '\n'), NDJSON, 400],
      ['an action of 10,000 levels', () => `{"index":${deep(10_000)}}\n{}\n`, NDJSON, 400],
      ['an action with as many lists as fit', () => filled('{"index":{"a":[', '[],', '[]]}}\n{}\n'), NDJSON, 400],
    ],
  },
} as const;

const CASES = Object.entries(DOORS).flatMap(([path, { shape, bodies }]) =>
  bodies.map(([what, body, headers, status]) => [`${path}: ${what}`, path, shape, body, headers, status] as const),
);

describe('the worst bodies that a door takes', () => {
  test.each(CASES)('%s', async (_what, path, shape, body, headers, status) => {
    const answer = await ask(app, path, {
      method: 'POST',
      headers: headers as Readonly<Record<string, string>>,
      body: Buffer.from(body() as string),
    });
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([
      status,
      status === 200 ? expect.stringMatching(/"items"|^{}$|^$/) : expect.stringContaining(shape),
    ]);
  });

  test('leave the program as it was', async () => {
    const good = `{"event":${eventLine({ logId: 'after all of them' })}}`.repeat(1);
    expect((await ask(app, '/services/collector', { method: 'POST', body: good })).status).toBe(200);
    expect((await search(app, lastHour())).body.total).toBe(1);
    expect(app.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
