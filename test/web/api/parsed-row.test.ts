import { expect, test } from 'vitest';
import { joinParts } from '../../../src/http/answer-writes.ts';
import { zoneRowJson } from '../../../src/http/search-json.ts';
import { readRow, readRows, rowKey } from '../../../web/api/parsed-row.ts';
import { HOSTILE_STRINGS } from '../../corpus/hostile-strings.ts';

/** Blanks, order, digits, escapes and repeated names that JSON.parse and JSON.stringify would change. */
const LOG = '{ "z":1.0, "10":1e3, "9":"\\u00e9\\/", "id":9007199254740993123, "id":2, "rows":[{"log":3}] }';

const ROW = { zoneId: -7, logId: 'a"b', timestamp: 1_700_000_000_001, fields: { ip: '::1', url: '","log":{}' } };

const written = (row: typeof ROW & { readonly log: string }) => joinParts(zoneRowJson({ ...row, log: Buffer.from(row.log) })).toString();

test('a row has its log byte for byte', () => {
  const { logId, timestamp, fields } = ROW;
  expect(readRow(written({ ...ROW, log: LOG }))).toEqual({ logId, timestamp, fields, logText: LOG, shieldZoneId: -7 });
});

test('the rows of an answer are read, and an answer without rows has none', () => {
  const rows = HOSTILE_STRINGS.map(({ text }) => ({ ...ROW, logId: text, log: JSON.stringify({ [text]: text }) }));
  const read = readRows(`{"rows":[${rows.map(written).join(',')}],"groups":null,"total":1}`);
  expect(read.map(({ logId, logText }) => [logId, logText])).toEqual(rows.map(({ logId, log }) => [logId, log]));
  expect(new Set(read.map(rowKey)).size).toBe(rows.length);
  expect(readRows('{"rows":null,"groups":[]}')).toEqual([]);
});

test('a row that lacks a member is an error that names it', () => {
  expect(() => readRow('{"logId":"a","timestamp":1,"log":{},"shieldZoneId":7}')).toThrow('a row has no member fields: {"logId":"a"');
});
