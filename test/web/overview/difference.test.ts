import { expect, test } from 'vitest';
import { differencesOf } from '../../../web/overview/difference.ts';

const value = (name: string, count: number, selected: number) => ({ value: name, count, selected, spellings: 1 });

test('the values of all fields stand in one list, by how much more of them the selection has', () => {
  const facets = [
    { field: 'asn' as const, distinct: 3, values: [value('64510', 100, 90), value('64496', 500, 5), value('64497', 50, 5)] },
    { field: 'ua' as const, distinct: 2, values: [value('nuclei', 95, 95), value('', 300, 5)] },
    { field: 'url' as const, distinct: 9, values: [value('/', 400, 45)] },
  ];
  const found = differencesOf(facets, { all: 1000, selected: 100 });
  expect(found.map(({ field, value: text }) => `${field} ${text}`)).toEqual(['ua nuclei', 'asn 64510', 'url /']);
  expect(found[1]).toEqual({ field: 'asn', value: '64510', selected: 90, selectedShare: 0.9, restShare: 10 / 900 });
});

test.each([
  ['nothing is selected', { all: 10, selected: 0 }, 0],
  ['everything is', { all: 10, selected: 10 }, 10],
])('where %s, the other side counts as empty', (_what, totals, selected) => {
  const facets = [{ field: 'ip' as const, distinct: 1, values: [value('a', 10, selected)] }];
  expect(differencesOf(facets, totals).map(({ restShare }) => restShare)).toEqual(selected === 0 ? [] : [0]);
});

test('values that are equally frequent, or all but, are not told', () => {
  const facets = [{ field: 'ip' as const, distinct: 2, values: [value('a', 500, 50), value('b', 500, 50), value('c', 100, 10)] }];
  expect(differencesOf(facets, { all: 1000, selected: 100 })).toEqual([]);
});
