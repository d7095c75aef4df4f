import { expect, test } from 'vitest';
import { groupColumns, ROW_COLUMNS, recordJson, recordOf } from '../../../../src/cli/search/output-columns.ts';

const ROW = '{"logId":"a","timestamp":1700000000000,"log":{"n":9007199254740993},"fields":{"ip":"::1","ua":""}}';

test('a record has the members of its objects beside its own, as they came', () => {
  expect([...recordOf(ROW, ['fields'])]).toEqual([
    ['logId', '"a"'],
    ['timestamp', '1700000000000'],
    ['log', '{"n":9007199254740993}'],
    ['fields.ip', '"::1"'],
    ['fields.ua', '""'],
  ]);
});

test('is written in some columns, with those that it has', () => {
  const named = (...names: readonly string[]) => names.flatMap((name) => ROW_COLUMNS.filter((column) => column.name === name));
  const record = recordOf(ROW, ['fields']);
  expect(recordJson(named('log', 'country', 'ip', 'time'), record)).toBe(
    '{"log":{"n":9007199254740993},"ip":"::1","time":"2023-11-14T22:13:20.000Z"}',
  );
  expect(recordJson(groupColumns(['country']), record)).toBe('{}');
});
