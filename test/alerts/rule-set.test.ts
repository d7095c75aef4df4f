import { describe, expect, test } from 'vitest';
import type { CountedEvent } from '../../alerts/alert-group.ts';
import { RuleSet } from '../../alerts/rule-set.ts';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { compileMatcher, matchSubject } from '../../query/match/match-event.ts';
import type { Predicate } from '../../query/plan/search-plan.ts';
import { eventAt, ruleWith } from './made-rules.ts';

const SEEDS = 500;

const equals = (column: 'action' | 'ruleId' | 'ip', values: readonly string[]): Predicate => {
  return { kind: 'equals', column, values, folded: column === 'action' };
};

/** A condition of some whole values and texts, of which several rules have the same. */
function drawnCondition(random: SeededRandom, depth = 2): Predicate {
  const values = (...all: readonly string[]) => all.filter(() => random.below(2) === 0);
  switch (random.below(depth === 0 ? 4 : 7)) {
    case 0:
      return { kind: 'everything' };
    case 1:
      return equals('action', values('blocked', 'LOGGED', 'İ'));
    case 2:
      return equals(random.below(2) === 0 ? 'ruleId' : 'ip', values('1', '2', ''));
    case 3:
      return { kind: 'contains', column: 'url', needle: random.below(2) === 0 ? 'admin' : 'LOGIN' };
    case 4:
      return { kind: 'not', of: drawnCondition(random, depth - 1) };
    default: {
      const of = Array.from({ length: random.below(4) }, () => drawnCondition(random, depth - 1));
      return { kind: random.below(2) === 0 ? 'all' : 'any', of };
    }
  }
}

function drawnEvent(random: SeededRandom): CountedEvent {
  const pick = <T>(...all: readonly T[]): T => all[random.below(all.length)] as T;
  const action = pick({}, { action: 'Blocked' }, { action: 'logged' }, { action: 'İ' });
  const others = { ...pick({}, { ruleId: '1' }, { ruleId: '2' }), ...pick({}, { ip: '' }, { ip: '1' }) };
  const event = eventAt(0, { ...action, ...others, ...pick({}, { url: '/Admin' }, { url: '/login' }) });
  return { ...event, zoneId: random.below(4) };
}

describe('of a set of rules', () => {
  test(`those match an event whose zones and condition do, over ${SEEDS} sets; and the feed is read for all that one matches`, () => {
    let matched = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = new SeededRandom(seed);
      const rules = Array.from({ length: random.below(12) }, () => {
        return ruleWith({
          zones: random.below(2) === 0 ? 'all' : [0, 1, 2].filter(() => random.below(2) === 0),
          where: drawnCondition(random),
        });
      });
      const exceptZone = random.below(2) === 0 ? undefined : 1;
      const set = new RuleSet(rules, { exceptZone });
      for (let nth = 0; nth < 20; nth += 1) {
        const { zoneId, fields } = drawnEvent(random);
        const expected = rules.flatMap(({ zones, where }, index) => {
          const isOfZone = zones === 'all' ? zoneId !== exceptZone : zones.includes(zoneId);
          return isOfZone && compileMatcher(where).matches(matchSubject(fields)) ? [index] : [];
        });
        expect(set.matching(zoneId, matchSubject(fields)), `seed ${seed}`).toEqual(expected);
        if (expected.length === 0) continue;
        matched += 1;
        const { zones, where } = set.wanted;
        const isRead = (zones === 'all' || zones.includes(zoneId)) && compileMatcher(where).matches(matchSubject(fields));
        expect(isRead, `seed ${seed}`).toBe(true);
      }
    }
    expect(matched).toBeGreaterThan(SEEDS);
  });

  test('the feed is read for whole values alone, and for nothing where there are none', () => {
    const blocked = equals('action', ['blocked']);
    const admin: Predicate = { kind: 'contains', column: 'url', needle: 'admin' };
    const rules = [
      ruleWith({ zones: [7], where: { kind: 'all', of: [blocked, admin] } }),
      ruleWith({ zones: [8], where: equals('ip', ['1']) }),
    ];
    expect(new RuleSet(rules).wanted).toEqual({
      zones: [7, 8],
      where: { kind: 'any', of: [blocked, equals('ip', ['1'])] },
    });
    expect(new RuleSet([]).wanted).toEqual({ zones: [], where: { kind: 'any', of: [] } });
  });

  test('one of the kind silence matches no event', () => {
    const set = new RuleSet([ruleWith({ kind: { kind: 'silence', forMs: 300_000 } })]);
    expect([set.matching(7, matchSubject({})), set.wanted.zones]).toEqual([[], []]);
  });
});
