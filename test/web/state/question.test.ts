import { describe, expect, test } from 'vitest';
import { DIMENSIONS, GROUP_DIMENSIONS } from '../../../query/event-fields.ts';
import { compileExplore } from '../../../query/request/compile-explore.ts';
import { DEFAULT_STATE, type ExplorerState } from '../../../web/state/explorer-state.ts';
import { questionKey, questionOf, withDayBefore, withLateFacet } from '../../../web/state/question.ts';

const NOW = 1_795_514_400_000;
const MINUTE = 60_000;

describe('the question of a state', () => {
  test.each<[string, Partial<ExplorerState>]>([
    ['at first', {}],
    ['with groups', { groupBy: ['asn', 'shieldZoneId'] }],
    ['of one zone', { zones: [7] }],
    ['that compares a stretch', { comparison: { kind: 'time', from: NOW - 30 * MINUTE, to: NOW - 20 * MINUTE } }],
    ['that compares a stretch that has left the window', { comparison: { kind: 'time', from: NOW - 1e9, to: NOW - 9e8 } }],
    ['that compares a value', { comparison: { kind: 'value', field: 'asn', value: '64510' } }],
    ['that compares a line', { comparison: { kind: 'line', line: 'ip:198.51.100.0/24 -action:allowed curl' } }],
    ['that compares all with the day before', { comparison: { kind: 'before' } }],
    ['of a millisecond', { range: { kind: 'between', from: NOW - 1, to: NOW } }],
  ])('%s is one that the program takes', (_what, change) => {
    const { body, lateBody } = questionOf({ ...DEFAULT_STATE, ...change }, NOW);
    for (const one of [body, lateBody]) {
      const bytes = new TextEncoder().encode(JSON.stringify(one));
      expect(() => compileExplore(bytes, { zones: [7, 8], nowMs: NOW })).not.toThrow();
    }
  });

  test.each<[string, ExplorerState['zones'], readonly string[]]>([
    ['of one zone', [7], DIMENSIONS],
    ['of several zones', [7, 8], GROUP_DIMENSIONS],
    ['of all zones', 'all', GROUP_DIMENSIONS],
  ])('%s asks for a facet of each field that events are grouped by, once', (_, zones, fields) => {
    const { body, lateBody } = questionOf({ ...DEFAULT_STATE, zones }, NOW);
    const [first, late] = [body, lateBody].map(({ facets = [] }) => facets.map(({ field }) => field));
    expect(late).toEqual(['url']);
    expect([...(first ?? []), 'url'].toSorted()).toEqual(fields.toSorted());
  });

  test('changes by what is searched, and not by what is only shown', () => {
    const key = questionKey(DEFAULT_STATE);
    const shown: Partial<ExplorerState> = {
      event: { zone: 7, timestamp: NOW, logId: 'a' },
      columns: ['time'],
      isLive: true,
      isRefreshing: true,
      clock: 'utc',
    };
    expect(questionKey({ ...DEFAULT_STATE, ...shown })).toBe(key);
    const searched: Partial<ExplorerState> = {
      zones: [7],
      range: { kind: 'last', minutes: 15 },
      search: { query: 'a', filters: [], exclude: [] },
      by: null,
      groupBy: ['ip'],
      comparison: { kind: 'value', field: 'asn', value: '1' },
    };
    for (const [name, value] of Object.entries(searched))
      expect([name, questionKey({ ...DEFAULT_STATE, [name]: value })]).not.toContain(key);
    expect(Object.keys({ ...shown, ...searched }).toSorted()).toEqual(Object.keys(DEFAULT_STATE).toSorted());
  });
});

test('the late facet stands in its place among the others, and so does what stands for it', () => {
  const first = (questionOf(DEFAULT_STATE, NOW).body.facets ?? []).map(({ field }) => ({ field, distinct: 0, values: [] }));
  const fields = ['asn', 'country', 'ip', 'ua', 'url', 'ruleId', 'feature', 'action', 'ja4', 'shieldZoneId'];
  for (const late of [null, { field: 'url', distinct: 1, values: [] } as const]) {
    const all = withLateFacet(first, late);
    expect(all.map(({ field }) => field)).toEqual(fields);
    expect(all[4]).toEqual(late ?? { field: 'url', distinct: null, values: null });
  }
});

test.each([
  ['an hour', 60, NOW - 25 * 60 * MINUTE],
  ['two days', 48 * 60, NOW - 72 * 60 * MINUTE],
  ['all that is kept', 72 * 60, NOW - 72 * 60 * MINUTE],
])('%s is held against the 24 hours before, as far as searches reach, by a question that the program takes', (_what, minutes, from) => {
  const question = questionOf({ ...DEFAULT_STATE, comparison: { kind: 'before' }, range: { kind: 'last', minutes } }, NOW);
  expect(question.body.selection).toBeUndefined();
  const body = withDayBefore(question, NOW);
  expect(body).toMatchObject({ from, to: NOW, selection: { from: NOW - minutes * MINUTE, to: NOW }, pageSize: 0 });
  expect(body.facets?.map(({ field }) => field).toSorted()).toEqual(GROUP_DIMENSIONS.toSorted());
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  expect(() => compileExplore(bytes, { zones: [7, 8], nowMs: NOW })).not.toThrow();
});
