import { expect, test } from 'vitest';
import type { Measured } from './bounded-case.ts';
import type { KnownFalls } from './known-falls.ts';
import { faults } from './measures.ts';

const QUIET = {
  turnMs: 5,
  turnDuring: '',
  peakMemoryMib: 300,
  interruptedMs: 0,
  interruptedStatement: '',
  running: 0,
  runningInterrupted: 0,
};

const quiet: Measured = { readings: QUIET, outcomes: [], defects: [] };
const slowTurn: Measured = { ...quiet, readings: { ...QUIET, turnMs: 101, turnDuring: '1 POST /a' } };
const nearlySlowTurn: Measured = { ...quiet, readings: { ...QUIET, turnMs: 80 } };
const answered = (kind: 'rows' | 'contains', status: number): Measured => ({
  ...quiet,
  outcomes: [{ kind, end: 'whole', status, told: '' }],
});
const broken: Measured = { ...quiet, outcomes: [{ kind: 'rows', end: 'broken', status: undefined, told: 'reset' }] };

const known: KnownFalls = { falls: { 'main thread': { reading: '600 ms' } } };
const mended = 'main thread: 5 ms do not fall any more (600 ms before): take the row out of known-falls.ts';

test.each<readonly [what: string, Measured, KnownFalls, readonly string[]]>([
  ['nothing past a limit', quiet, {}, []],
  ['a fall', slowTurn, {}, ['main thread: 101 ms, allowed 100; 1 POST /a']],
  ['a fall that is known', slowTurn, known, []],
  ['a known fall near its limit', nearlySlowTurn, known, []],
  ['a known fall that is mended', quiet, known, [mended]],
  ['a fall that may be', slowTurn, { mayFall: ['main thread'] }, []],
  ['another one than may be', slowTurn, { mayFall: ['memory'] }, ['main thread: 101 ms, allowed 100; 1 POST /a']],
  ['too much memory', { ...quiet, readings: { ...QUIET, peakMemoryMib: 1_801 } }, {}, ['memory: 1801 MiB, allowed 1800; ']],
  ['a statement that goes on', { ...quiet, readings: { ...QUIET, interruptedMs: 5_001 } }, {}, ['interrupt: 5001 ms, allowed 5000; ']],
  ['an answer 500', answered('rows', 500), {}, ['status 500: 1, allowed 0; rows: 500  ']],
  ['an answer 503', answered('rows', 503), {}, []],
  ['a search for texts that is refused', answered('contains', 400), {}, []],
  ['a search without texts that is refused', answered('rows', 400), {}, ['status 500: 1, allowed 0; rows: 400  ']],
  ['a connection that breaks', broken, {}, ['connection: 1, allowed 0; rows: undefined reset']],
])('%s', (_what, measured, falls, expected) => {
  expect(faults(measured, falls)).toEqual(expected);
});
