import fc from 'fast-check';
import type { Step } from './history.ts';

/** A life in which every operation of the store comes at least once. Its files are small, so that it is all on one thread. */
export const WHOLE_LIFE: readonly Step[] = [
  { kind: 'append', count: 3 },
  { kind: 'flush' },
  { kind: 'retention', hours: 31 },
  { kind: 'append', count: 2, twins: 1, hasOffset: true },
  { kind: 'repeat', count: 2 },
  { kind: 'flush' },
  { kind: 'append two', count: 2 },
  { kind: 'flush' },
  { kind: 'merge' },
  { kind: 'repeat', count: 1, hasOffset: true },
  { kind: 'refuse', at: 6 },
  { kind: 'restart' },
  { kind: 'retention', hours: 31 },
  { kind: 'append', count: 2 },
  { kind: 'append', count: 1 },
];

/** A life in which the files of a journal become those of the next one. */
const RECYCLING_LIFE: readonly Step[] = [
  { kind: 'append large' },
  { kind: 'flush' },
  { kind: 'append', count: 2 },
  { kind: 'append', count: 1 },
  { kind: 'flush' },
  { kind: 'merge' },
];

export const LIVES = { 'the whole life of a store': WHOLE_LIFE, 'a life that recycles files': RECYCLING_LIFE };

export const anyLife: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({
        kind: fc.constant('append' as const),
        count: fc.integer({ min: 1, max: 4 }),
        twins: fc.nat({ max: 2 }),
        hasOffset: fc.boolean(),
      }),
      weight: 4,
    },
    { arbitrary: fc.record({ kind: fc.constant('append two' as const), count: fc.integer({ min: 1, max: 3 }) }), weight: 1 },
    {
      arbitrary: fc.record({
        kind: fc.constant('repeat' as const),
        count: fc.integer({ min: 1, max: 4 }),
        hasOffset: fc.boolean(),
      }),
      weight: 2,
    },
    { arbitrary: fc.record({ kind: fc.constant('refuse' as const), at: fc.nat({ max: 6 }) }), weight: 1 },
    { arbitrary: fc.constant({ kind: 'flush' as const }), weight: 3 },
    { arbitrary: fc.constant({ kind: 'merge' as const }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant('retention' as const), hours: fc.integer({ min: 1, max: 40 }) }), weight: 1 },
    { arbitrary: fc.constant({ kind: 'restart' as const }), weight: 1 },
  ),
  { minLength: 4, maxLength: 9 },
);
