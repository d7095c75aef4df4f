import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';
import { assertAsyncProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { NOW_MS } from './filled-store.ts';
import { answerFaults } from './raw-bytes/answer-faults.ts';
import { arbitraryCase, type Case } from './raw-bytes/arbitrary-wire-request.ts';
import { TakenInEvents } from './raw-bytes/taken-in-events.ts';
import { DATABASE_TOKEN, KEY_OF_ALL_ZONES, KEY_OF_ZONE_1, startWatchedProgram, type WatchedProgram } from './raw-bytes/watched-program.ts';
import { type Exchange, exchange } from './raw-bytes/wire-exchange.ts';

const CASES = propertyRuns(500);
/** Cases that are under way together. */
const TOGETHER = 20;
/** Milliseconds of CPU time. The program is to hold its main thread for less than 100; this also holds on a machine that is slower. */
const LONGEST_TURN_MS = 250;

let program: WatchedProgram;
let taken: TakenInEvents;
const seen = { complete: 0, longestTurnMs: 0 };

async function start(): Promise<void> {
  program = await startWatchedProgram(NOW_MS);
  taken = new TakenInEvents(program.port, NOW_MS);
  // Discards the turns of the start, which belong to no request.
  await eventually('the program is ready', async () => (await fetch(`http://127.0.0.1:${program.port}/readyz`)).ok);
  await program.longestTurnMs();
}

beforeAll(start);
afterAll(() => program.stop());

function shown({ operationId, pieces }: Case): string {
  const bytes = Buffer.concat(pieces);
  return `${operationId}, ${bytes.length} bytes: ${JSON.stringify(bytes.toString('latin1', 0, 2_000))}`;
}

function expectAsDescribed(one: Case, { answers }: Exchange): void {
  for (const [index, answer] of answers.entries()) {
    expect(answerFaults(one, answer, index === 0), `${answer.status} ${answer.text.slice(0, 1_000)}`).toEqual([]);
  }
  // Whether the others are answered in time hangs on how busy the machine is.
  if (!one.mayBeIncomplete) seen.complete += 1;
}

async function held(one: Case): Promise<readonly [Case, Exchange]> {
  try {
    const exchanged = await exchange(program.port, one);
    expectAsDescribed(one, exchanged);
    return [one, exchanged];
  } catch (error) {
    throw new Error(`${(error as Error).message}\nin answer to ${shown(one)}`, { cause: error });
  }
}

/** The case that alone holds the main thread longest, and for how long. */
async function slowest(cases: readonly Case[]): Promise<readonly [number, string]> {
  let longest: readonly [number, string] = [0, ''];
  for (const one of cases) {
    await taken.expectNew([await held(one)]);
    const ms = await program.longestTurnMs();
    if (ms > longest[0]) longest = [ms, shown(one)];
  }
  return longest;
}

async function expectShortTurns(cases: readonly Case[]): Promise<void> {
  const turnMs = await program.longestTurnMs();
  seen.longestTurnMs = Math.max(seen.longestTurnMs, turnMs);
  if (turnMs < LONGEST_TURN_MS) return;
  // One turn may have held many cases, each of which is short.
  const [aloneMs, which] = await slowest(cases);
  expect(aloneMs, `milliseconds of CPU time of the main thread in one turn, of ${which}`).toBeLessThan(LONGEST_TURN_MS);
}

const property = fc.asyncProperty(
  fc.array(
    arbitraryCase(NOW_MS, {
      accessKeyFor: (operationId) => (operationId === 'ingestEvents' ? KEY_OF_ZONE_1 : KEY_OF_ALL_ZONES),
      databaseToken: DATABASE_TOKEN,
    }),
    { minLength: TOGETHER, maxLength: TOGETHER },
  ),
  async (cases) => {
    const exchanges = await Promise.all(cases.map(held));
    expect(program.defects()).toEqual([]);
    await taken.expectNew(exchanges);
    await expectShortTurns(cases);
  },
);

test(`connections of arbitrary bytes get documented answers in order, in short turns, and store only what they say`, async () => {
  await assertAsyncProperty(property, { numRuns: CASES / TOGETHER, endOnFailure: true });
  await taken.expectSearchable();
  process.stderr.write(`raw bytes: the longest turn, of one case or of several, took ${seen.longestTurnMs.toFixed(0)} ms of CPU time\n`);
  // Otherwise the cases tell little.
  expect(seen.complete).toBeGreaterThan(CASES / 2);
  expect(taken.count).toBeGreaterThan(CASES / 10);
});
