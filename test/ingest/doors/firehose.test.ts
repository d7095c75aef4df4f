import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { takeFirehose } from '../../../ingest/doors/firehose.ts';

function take(body: string) {
  return takeFirehose(Buffer.concat([Buffer.from(body), Buffer.of(0)]));
}

/** The records of a request with these data as texts. */
function recordsOf(...data: readonly (string | Buffer)[]): readonly string[] {
  const records = data.map((one) => ({ data: Buffer.from(one as string).toString('base64') }));
  const taken = take(JSON.stringify({ requestId: 'r', timestamp: 1, records }));
  if (taken.kind === 'fault') throw new Error(taken.reason);
  const { bytes, count, starts, ends } = taken.records;
  return Array.from({ length: count }, (_, index) => bytes.subarray(starts[index], ends[index]).toString());
}

const subscription = (messageType: string, ...messages: readonly string[]): string =>
  JSON.stringify({
    messageType,
    owner: '1',
    logGroup: 'g',
    logEvents: messages.map((message, id) => ({ id: String(id), timestamp: 1, message })),
  });

describe('the records of a request', () => {
  test.each<[what: string, data: readonly (string | Buffer)[], records: readonly string[]]>([
    ['none', [], []],
    ['an empty one', [''], []],
    ['a line without its end', ['{"a":1}'], ['{"a":1}']],
    ['several lines, and blank ones', ['{"a":1}\r\n\n{"b":"é"}\n'], ['{"a":1}', '{"b":"é"}']],
    ['several data', ['{"a":1}', '{"b":2}\n{"c":3}'], ['{"a":1}', '{"b":2}', '{"c":3}']],
    ['gzip', [gzipSync('{"a":1}\n{"b":2}'), '{"c":3}'], ['{"a":1}', '{"b":2}', '{"c":3}']],
    ['what CloudWatch sends', [gzipSync(subscription('DATA_MESSAGE', '{"a":1}', '{\n"b":2}'))], ['{"a":1}', '{\n"b":2}']],
    ['the same, unpacked before', [subscription('DATA_MESSAGE', '{"a":1}')], ['{"a":1}']],
    ['what CloudWatch tries it with', [gzipSync(subscription('CONTROL_MESSAGE', 'try'))], []],
    ['a record that only looks so', ['{"logEvents":[1],"a":1}'], ['{"logEvents":[1],"a":1}']],
    ['base64 of base64', [Buffer.from('{"a":1}').toString('base64')], ['eyJhIjoxfQ==']],
  ])('%s', (_what, data, records) => {
    expect(recordsOf(...data)).toEqual(records);
  });

  test.each<[what: string, body: string, expected: object]>([
    ['no JSON', '{"records":[', { index: null, reason: expect.stringContaining('the body is not {"records"') }],
    ['nothing', '', { index: null }],
    ['null', 'null', { index: null }],
    ['no list', '{"records":{}}', { index: null }],
    ['no data', '{"records":[{"data":""},{}]}', { index: 1, reason: 'there is no base64 in "data" of the record 1' }],
    ['null as a record', '{"records":[null]}', { index: 0 }],
    ['data that are no base64', '{"records":[{"data":"a b"}]}', { index: 0 }],
    ['gzip that is cut', JSON.stringify({ records: [{ data: gzipSync('x').subarray(0, -4).toString('base64') }] }), { index: 0 }],
    [
      'gzip of zeros',
      JSON.stringify({ records: [{ data: 'eA==' }, { data: gzipSync(Buffer.alloc(32 * 1024 * 1024)).toString('base64') }] }),
      { index: 1, isTooLarge: true, reason: expect.stringContaining('more than 33554432 bytes unpacked') },
    ],
  ])('%s is a fault of the whole', (_what, body, expected) => {
    expect(take(body)).toMatchObject({ kind: 'fault', ...expected });
  });
});
