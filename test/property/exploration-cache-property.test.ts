import fc from 'fast-check';
import { test } from 'vitest';
import type { ExplorePlan } from '../../query/plan/explore-plan.ts';
import { KNOWN_IN_TIME } from '../fixtures/known-in-time.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { blockedIn, during, minutes, question, Twins } from '../store/embedded/search/twin-stores.ts';

const STEPS = 12;
/** Questions after each step. Of few different ones, so that most were asked before, of other events or of a window close by. */
const QUESTIONS = 3;
const MOST_MINUTES = 900;

const asked: fc.Arbitrary<ExplorePlan> = fc
  .record({
    from: fc.constantFrom(0, 0, 1, 30),
    length: fc.constantFrom(400, 1_000),
    selection: fc.constantFrom('none', 'none', 'blocked', 'early', 'nothing'),
    by: fc.constantFrom('ip', 'country', null),
    limit: fc.constantFrom(1, 20, 100),
    order: fc.constantFrom('count', 'difference'),
  })
  .map(({ from, length, selection, by, limit, order }) => {
    const to = from + length;
    const selections = { none: null, blocked: blockedIn(from, to), early: during(from, from + 90), nothing: during(to, to) };
    const plan = question(from, to, selections[selection as keyof typeof selections]);
    const facets = plan.facets.map(({ field }) => ({ field, limit, order: selection === 'none' ? 'count' : order }) as const);
    return { ...plan, facets, histogram: { buckets: 7, by: by as 'ip' | 'country' | null } };
  });

const step = fc.record({
  change: fc.constantFrom('append', 'append', 'append', 'flush', 'merge', 'expire'),
  from: fc.integer({ min: 0, max: MOST_MINUTES }),
  count: fc.constantFrom(1, 5, 150),
  questions: fc.array(asked, { minLength: QUESTIONS, maxLength: QUESTIONS }),
});

test('what is remembered of earlier questions changes no answer, while events are stored, flushed, merged and expire', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: STEPS, maxLength: STEPS }), async (steps) => {
    const twins = await Twins.open();
    await twins.append(minutes(0, 500));
    for (const { change, from, count, questions } of steps) {
      const changes = {
        append: () => twins.append(minutes(from, count)),
        flush: () => twins.flush(),
        merge: () => twins.merge(),
        expire: () => twins.expireAfter(7),
      };
      await changes[change as keyof typeof changes]();
      await twins.expectEqual(...questions);
    }
  });
  await assertAsyncProperty(property, { numRuns: propertyRuns(1), ...KNOWN_IN_TIME });
});
