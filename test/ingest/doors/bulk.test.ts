import { expect, test } from 'vitest';
import { BULK_ACTIONS, MOST_BULK_ITEMS, takeBulk } from '../../../ingest/doors/bulk.ts';

const take = (body: string) => takeBulk(Buffer.concat([Buffer.from(body), Buffer.of(0)]));

test.each<[what: string, body: string, items: readonly string[], records: readonly string[]]>([
  ['nothing', '', [], []],
  ['blank lines', '\n \r\n', [], []],
  [
    'an index and a create',
    '{"index":{"_index":"a"}}\n{"x":1}\n{"create":{"_id":"7"}}\r\n{"y":"é"}\r\n',
    ['index a', 'create '],
    ['{"x":1}', '{"y":"é"}'],
  ],
  ['a delete, which has no document', '{"delete":{"_index":"a","_id":"1"}}\n{"index":{}}\n{"x":1}\n', ['delete a', 'index '], ['{"x":1}']],
  ['an update, whose document is no record', '{"update":{}}\n{"doc":{"x":1}}\n{"index":{}}\n{"x":2}\n', ['update ', 'index '], ['{"x":2}']],
  [
    'blank lines between items and at the end',
    '{"index":{}}\n{"x":1}\n\n\n{"index":{}}\n{"x":2}\n\n',
    ['index ', 'index '],
    ['{"x":1}', '{"x":2}'],
  ],
  ['a document that is no JSON', '{"index":{}}\nplain\n', ['index '], ['plain']],
  ['members of others', '{"index":{"_type":"_doc","pipeline":"p","_index":"a"}}\n{}\n', ['index a'], ['{}']],
])('%s', (_what, body, items, records) => {
  const taken = take(body);
  if (taken.kind === 'fault') throw new Error(taken.reason);
  const { bytes, count, starts, ends } = taken.records;
  expect(Array.from({ length: count }, (_, index) => bytes.subarray(starts[index], ends[index]).toString())).toEqual(records);
  const { actions = [], indices = [], names = [] } = taken.items ?? {};
  expect(Array.from(actions, (action, item) => `${BULK_ACTIONS[action]} ${names[indices[item] ?? 0]}`)).toEqual(items);
});

const good = '{"index":{}}\n{"x":1}\n';
test.each<[what: string, body: string, index: number, reason: string]>([
  ['an action that is cut', `${good}{"index":{}`, 1, 'the body ends in the middle of it'],
  ['an action without a document', `${good}{"index":{}}\n`, 1, 'the body ends before its document'],
  ['a document that is cut', `${good}{"index":{}}\n{"x"`, 1, 'the body ends before its document'],
  ['a blank document', '{"index":{}}\n \n', 0, 'its document is a blank line'],
  ['an action that there is not', `${good}{"upsert":{}}\n{}\n`, 1, 'allowed: index, create, update, delete'],
  ['two actions', '{"index":{},"create":{}}\n{}\n', 0, 'its action is not'],
  ['no object', '[]\n{}\n', 0, 'its action is not'],
  ['null', 'null\n{}\n', 0, 'its action is not'],
  ['a text as target', '{"index":"a"}\n{}\n', 0, 'its action is not'],
  ['an index that is a number', '{"index":{"_index":5}}\n{}\n', 0, 'its action is not'],
  ['an index whose name is too long', `{"index":{"_index":"${'x'.repeat(256)}"}}\n{}\n`, 0, 'its action is not'],
])('%s is a fault of the whole', (_what, body, index, reason) => {
  expect(take(body)).toMatchObject({ kind: 'fault', index, reason: expect.stringContaining(reason) });
});

test('more items than an answer may have are too many', () => {
  const item = '{"delete":{}}\n';
  expect(take(item.repeat(MOST_BULK_ITEMS))).toMatchObject({ kind: 'records', records: { count: 0 } });
  expect(take(item.repeat(MOST_BULK_ITEMS + 1))).toMatchObject({ kind: 'fault', isTooLarge: true, index: MOST_BULK_ITEMS });
});
