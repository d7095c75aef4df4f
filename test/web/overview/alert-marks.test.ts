import { expect, test } from 'vitest';
import type { ListedAlert } from '../../../web/api/alerts.ts';
import { alertWords } from '../../../web/overview/alert-marks.ts';

const alertOf = (rule: string, from: number, to: number): ListedAlert => ({
  ...{ id: `${rule} ${from}`, rule, zones: 'all', severity: 'high', group: {}, from, to, hits: 1 },
  ...{ resolvedAt: null, earlyEnd: null, bounded: false, receivers: [], kept: null },
});
const ALERTS = [alertOf('scanner', 30, 40), alertOf('gone-wild', 10, 20), alertOf('scanner', 5, 15)];

test.each([
  ['before all of them', 0, 5, ''],
  ['that touches the begin of one', 0, 6, '; alerts: scanner'],
  ['in two of them', 12, 13, '; alerts: gone-wild, scanner'],
  ['with two of a rule', 0, 100, '; alerts: scanner, gone-wild'],
  ['between them', 20, 30, ''],
])('a stretch %s names the rules of its alerts', (_what, from, to, words) => {
  expect(alertWords(ALERTS, { from, to })).toBe(words);
});
