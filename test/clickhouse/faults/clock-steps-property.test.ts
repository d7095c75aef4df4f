import fc from 'fast-check';
import { test } from 'vitest';
import { assertAsyncProperty } from '../../random/assert-property.ts';
import { propertyRuns } from '../../random/property-runs.ts';
import { breakableCluster } from '../cluster/nodes.ts';
import { breakableServer } from '../engine.ts';
import { sharedStore } from '../shared-store.ts';
import { type SteppedPlace, SteppedStore } from './stepped-store.ts';

const MINUTE = 60_000;

const program = fc.nat(1);
const count = fc.integer({ min: 1, max: 3 });

/** By how much a clock steps: minutes, hours, less and more than what is not written down, as little as a program cannot find. */
const anyStep = fc.oneof(
  { arbitrary: fc.constantFrom(-10 * MINUTE, -60 * MINUTE, 10 * MINUTE, 60 * MINUTE), weight: 3 },
  { arbitrary: fc.constantFrom(-3_000, -11_000, 3_000), weight: 2 },
  fc.integer({ min: -1_000, max: 1_000 }),
);

/** Steps that no program takes for a slow clock. */
const clearStep = fc.constantFrom(-10 * MINUTE, -60 * MINUTE, 10 * MINUTE, 60 * MINUTE);

type Name = 'append' | 'lose' | 'sendAgain' | 'appendMeanwhile' | 'reopen' | 'ask' | 'readFeed' | 'merge';

/** A step of clocks, none of 0 ms, and then a method of {@link SteppedStore} with its arguments. */
interface Happening {
  readonly node: number | 'all';
  readonly stepMs: number;
  readonly then: { [One in Name]: readonly [One, ...Parameters<SteppedStore[One]>] }[Name];
}

function anyLife(step: fc.Arbitrary<number>, node: fc.Arbitrary<number | 'all'>, most: number): fc.Arbitrary<readonly Happening[]> {
  const looks = fc.constantFrom(['before', 'running'], ['after'], ['before'], []);
  const maybeStep = fc.oneof(fc.constant(0), step);
  const draws: { readonly [One in Name]: readonly [weight: number, ...given: readonly fc.Arbitrary<unknown>[]] } = {
    append: [5, program, count],
    readFeed: [3, program, fc.nat(9), count, fc.constantFrom(1_000, 1)],
    reopen: [3, program, fc.constantFrom('close', 'kill'), maybeStep],
    ask: [2, program, fc.constantFrom('explore', 'export', 'search')],
    lose: [2, program, count],
    sendAgain: [1, program],
    appendMeanwhile: [2, program, step, looks],
    merge: [1],
  };
  const then = fc.oneof(
    ...Object.entries(draws).map(([name, [weight, ...given]]) => ({ arbitrary: fc.tuple(fc.constant(name), ...given), weight })),
  );
  const happening = fc.record({ node, stepMs: maybeStep, then }) as fc.Arbitrary<unknown> as fc.Arbitrary<Happening>;
  return fc.array(happening, { minLength: 1, maxLength: most, size: 'max' });
}

const afterStep = (stepMs: number, ...then: Happening['then']): Happening => ({ node: 'all', stepMs, then });

/** Short lives, each of which fails where one part of what keeps the time is missing. */
const EXAMPLES: readonly (readonly Happening[])[] = [
  [afterStep(0, 'append', 0, 1), afterStep(0, 'reopen', 0, 'close', -3_000)],
  [afterStep(60 * MINUTE, 'readFeed', 1, 0, 1, 1_000), afterStep(-60 * MINUTE, 'append', 0, 1)],
  [afterStep(0, 'append', 0, 1), afterStep(0, 'appendMeanwhile', 0, -10 * MINUTE, ['after'])],
  [afterStep(0, 'readFeed', 1, 0, 1, 1_000), afterStep(0, 'appendMeanwhile', 0, -10 * MINUTE, ['before', 'running'])],
  [afterStep(0, 'appendMeanwhile', 0, 10 * MINUTE, ['running'])],
];

async function live(place: SteppedPlace, life: readonly Happening[]): Promise<void> {
  const stepped = await SteppedStore.open(place);
  try {
    for (const { node, stepMs, then } of life) {
      await stepped.step(node, stepMs);
      const [name, ...given] = then;
      await (stepped[name] as (...all: readonly unknown[]) => Promise<void>).apply(stepped, given);
    }
    await stepped.expectEverything();
  } finally {
    await stepped.close();
  }
}

test('whatever the clock of the server does, both programs have every event once, in the order of the feed', async () => {
  const server = await breakableServer();
  const property = fc.asyncProperty(anyLife(anyStep, fc.constant('all'), 8), async (happenings) => {
    await live({ shared: await sharedStore(server.url), servers: [server], table: 'events_local' }, happenings);
  });
  await assertAsyncProperty(property, { numRuns: propertyRuns(9), examples: EXAMPLES.map((life) => [life]) });
});

test('the same where the nodes of a cluster have clocks of their own', async () => {
  const { nodes, url } = await breakableCluster();
  const property = fc.asyncProperty(anyLife(clearStep, fc.constantFrom<(number | 'all')[]>(0, 1, 'all'), 5), async (happenings) => {
    await live({ shared: await sharedStore(nodes[0].url, 'a cluster', url), servers: nodes, table: 'events' }, happenings);
  });
  await assertAsyncProperty(property, { numRuns: propertyRuns(2) });
});
