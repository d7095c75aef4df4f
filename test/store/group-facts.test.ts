import { expect, test } from 'vitest';
import { compareCodePoints } from '../../store/compare-code-points.ts';
import { GroupFacts } from '../../store/group-facts.ts';

test('the most frequent value wins, and of equals the smaller by code point', () => {
  const facts = new GroupFacts(0);
  for (const [country, events] of [
    ['DE', 3],
    ['AT', 3],
    ['FR', 2],
  ] as const) {
    facts.addValue('country', country, events);
  }
  facts.addValue('country', null, 99);
  expect(facts.context()).toMatchObject({ country: 'AT', asn: '' });
});

test('features and rules are distinct, ascending, joined by a comma', () => {
  const facts = new GroupFacts(0);
  for (const rule of ['20', '3', '100', '😀', '\uffee']) {
    facts.addValue('ruleId', rule, 1);
  }
  expect(facts.context().ruleIds).toBe('100,20,3,\uffee,😀');
});

test('only the three actions that a context counts are counted', () => {
  const facts = new GroupFacts(0);
  for (const [action, events] of [
    ['blocked', 1],
    ['challenged', 2],
    ['logged', 3],
    ['allowed', 4],
  ] as const) {
    facts.addValue('action', action, events);
  }
  expect(facts.context()).toMatchObject({ blocked: 1, challenged: 2, logged: 3 });
});

test.each([
  ['', 'a', -1],
  ['a', 'ab', -1],
  ['b', 'ab', 1],
  ['\uffee', '😀', -1],
  ['😀', '😁', -1],
  ['same', 'same', 0],
])('%j against %j is %d, as in UTF-8', (a, b, sign) => {
  expect(Math.sign(compareCodePoints(a, b))).toBe(sign);
  expect(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))).toBe(sign);
});
