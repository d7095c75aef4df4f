import { describe, expect, it, test } from 'vitest';
import { itemTexts, MOST_STEPS, parsePath, pathFinder } from '../../../ingest/mapping/record-path.ts';

const isAbsent = (value: unknown): boolean => value === undefined || value === null || value === '';

function at(record: unknown, path: string): unknown {
  return pathFinder(parsePath(path)?.steps ?? [], isAbsent)(record);
}

const RECORD = {
  host: 'a',
  Nested: { Deep: { 'User-Agent': 'curl' }, 'with.point': 1, ':authority': 'b' },
  list: [{ name: 'Host', value: '' }, { name: 'host', value: 'x' }, null, 3, { name: 'HOST', value: 'y' }],
  rules: [{ id: 949110 }, { id: '942100', data: { msg: 'second' } }, { data: { msg: 'without id' } }],
  groups: [{ rule: null }, { rule: { ids: [] } }, { rule: { ids: ['r1', 'r2'] } }],
  pairs: [
    ['a', 1],
    ['b', 2],
  ],
  constructor: 'own',
};

it.each<[string, unknown]>([
  ['host', 'a'],
  ['HOST', 'a'],
  ['nested.deep.user-agent', 'curl'],
  ['nested."with.point"', 1],
  ['nested.":AUTHORITY"', 'b'],
  ['nested.:authority', 'b'],
  ['"host"', 'a'],
  ['absent', undefined],
  ['host.deeper', undefined],
  ['list.name', undefined],
  ['list[0].name', 'Host'],
  ['list[9]', undefined],
  ['host[0]', undefined],
  ['nested[0]', undefined],
  ['list[*].value', 'x'],
  ['list[name=host].value', 'x'],
  ['list[name=none].value', undefined],
  ['list[name=none,HOST].value', 'x'],
  ['rules[id!=949110,959100].id', '942100'],
  ['rules[id=949110].id', 949110],
  ['rules[id!=949110].data.msg', 'second'],
  ['rules[data.msg=without id].data.msg', 'without id'],
  ['groups[*].rule.ids[0]', 'r1'],
  ['groups[*].rule.ids[*]', 'r1'],
  ['pairs[1][0]', 'b'],
  ['constructor', 'own'],
  ['toString', undefined],
  ['nested.constructor', undefined],
])('the path %s', (path, value) => {
  expect(at(RECORD, path)).toEqual(value);
});

it('prefers the name as it is written to one in another case', () => {
  expect(at({ HOST: 1, host: 2, Host: 3 }, 'host')).toBe(2);
  expect(at({ HOST: 1, Host: 3 }, 'host')).toBe(1);
});

it.each([
  '',
  '.',
  'a.',
  '.a',
  'a..b',
  'a[',
  'a]',
  'a[]',
  'a[x]',
  'a[=b]',
  'a[b=]',
  '[0]',
  '[*]',
  'a b',
  'a{b}',
  '"a',
  'a[1234567]',
  'a[-1]',
  'a[0]b',
  'a."b"c',
])('no path: %j', (text) => {
  expect(parsePath(text)).toBeNull();
});

test('a path has so many steps at most', () => {
  const ofSteps = (count: number): string => Array(count).fill('a').join('.');
  expect(parsePath(ofSteps(MOST_STEPS))?.steps).toHaveLength(MOST_STEPS);
  expect(parsePath(ofSteps(MOST_STEPS + 1))).toBeNull();
});

describe('the items of an envelope', () => {
  const texts = (text: string, path: string): readonly string[] | null => itemTexts(text, parsePath(path)?.steps ?? []);

  it.each<[string, string, readonly string[] | null]>([
    ['{"records":[{"a":1.0},"b", 12345678901234567890 ]}', 'records', ['{"a":1.0}', '"b"', '12345678901234567890']],
    ['{"Records":[1]}', 'records', ['1']],
    ['{"records":[]}', 'records', []],
    ['{"records":{"a":1}}', 'records', null],
    ['{"records":"a"}', 'records', ['"a"']],
    ['{"records":5}', 'records', null],
    ['{"other":[1]}', 'records', null],
    ['{"a":{"b":[[1,2],[3]]}}', 'a.b[0]', ['1', '2']],
    ['{"a":[{"m":"x"},{"n":"y"},{"m":{"z":1}}]}', 'a[*].m', ['"x"', '{"z":1}']],
    ['{"a":[]}', 'a[*].m', null],
    ['{"a":[{"b":[1,2]},{"b":[3]}]}', 'a[*].b[*]', ['1', '2', '3']],
    ['{"records":[1],"records":[2]}', 'records', ['2']],
  ])('%s at %s', (text, path, items) => {
    expect(texts(text, path)).toEqual(items);
  });
});
