import { expect, test } from 'vitest';
import type { Measured } from './bounded-case.ts';
import { faults } from './measures.ts';

const QUIET = {
  turnMs: 5,
  turnDuring: '',
  slowness: 0.5,
  peakMemoryMib: 300,
  interruptedMs: 0,
  interruptedStatement: '',
  running: 0,
  runningInterrupted: 0,
};

const quiet: Measured = { readings: QUIET, outcomes: [], defects: [] };
const slowTurn: Measured = { ...quiet, readings: { ...QUIET, turnMs: 101, turnDuring: '1 POST /a' } };
const answered = (kind: 'rows' | 'contains', status: number): Measured => ({
  ...quiet,
  outcomes: [{ kind, end: 'whole', status, told: '' }],
});
const broken: Measured = { ...quiet, outcomes: [{ kind: 'rows', end: 'broken', status: undefined, told: 'reset' }] };

test.each<readonly [what: string, Measured, readonly string[]]>([
  ['nothing past a limit', quiet, []],
  ['a fall', slowTurn, ['main thread: 101 ms (slowness 0.5), allowed 100; 1 POST /a']],
  ['a fall that is the slow processor', { ...quiet, readings: { ...QUIET, turnMs: 199, slowness: 2 } }, []],
  [
    'a fall on a slow processor',
    { ...quiet, readings: { ...QUIET, turnMs: 201, slowness: 2 } },
    ['main thread: 201 ms (slowness 2.0), allowed 100; '],
  ],
  ['too much memory', { ...quiet, readings: { ...QUIET, peakMemoryMib: 2_665 } }, ['memory: 2665 MiB, allowed 2664; ']],
  ['a statement that goes on', { ...quiet, readings: { ...QUIET, interruptedMs: 5_001 } }, ['interrupt: 5001 ms, allowed 5000; ']],
  ['an answer 500', answered('rows', 500), ['status 500: 1, allowed 0; rows: 500  ']],
  ['an answer 503', answered('rows', 503), []],
  ['a search for texts that is refused', answered('contains', 400), []],
  ['a search without texts that is refused', answered('rows', 400), ['status 500: 1, allowed 0; rows: 400  ']],
  ['a connection that breaks', broken, ['connection: 1, allowed 0; rows: undefined reset']],
])('%s', (_what, measured, expected) => {
  expect(faults(measured)).toEqual(expected);
});
