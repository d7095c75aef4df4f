import { expect, test } from 'vitest';
import { compareCodePoints } from '../../../../store/embedded/runtime/compare-code-points.ts';
import { GroupFacts } from '../../../../store/embedded/search/group-facts.ts';

test('the most frequent value wins, and of equals the smaller by code point', () => {
  const facts = new GroupFacts(0);
  for (const [country, events] of [
    ['DE', 3],
    ['AT', 3],
    ['FR', 2],
  ] as const) {
    facts.addOrigin(country, null, events);
  }
  facts.addOrigin(null, null, 99);
  expect(facts.context()).toMatchObject({ country: 'AT', asn: '' });
});

test('features are distinct, ascending, joined by a comma', () => {
  const facts = new GroupFacts(0);
  for (const feature of ['20', '3', '100', '😀', '\uffee', '3']) {
    facts.addAction(null, feature, 1);
  }
  expect(facts.context().features).toBe('100,20,3,\uffee,😀');
});

test('only the three actions that a context counts are counted', () => {
  const facts = new GroupFacts(0);
  for (const [action, events] of [
    ['blocked', 1],
    ['challenged', 2],
    ['logged', 3],
    ['allowed', 4],
  ] as const) {
    facts.addAction(action, null, events);
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
