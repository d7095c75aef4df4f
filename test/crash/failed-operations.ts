import { setImmediate } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { withFolder } from '../property/filled-store.ts';
import { type CrashPoint, crashPoints, whatIsWrong } from './crash.ts';
import { History, type Step } from './history.ts';
import type { Fault } from './recording.ts';
import { contradiction, whatIsFound } from './truth.ts';

/** A flush that failed is tried again after this time. */
const RETRY_MS = 2_000;

/** A step each operation of which fails once, and the steps that it takes to have it do all of its work. */
export interface FaultyStep {
  /** Steps that are taken once. */
  readonly first?: readonly Step[];
  readonly before: readonly Step[];
  readonly step: Step;
}

const APPEND: Step = { kind: 'append', count: 2, hasOffset: true };

export const FAULTY_STEPS: Readonly<Record<string, FaultyStep>> = {
  'an append': { before: [], step: APPEND },
  'an append of events that are stored already': { before: [APPEND], step: { kind: 'repeat', count: 2 } },
  'a flush': { before: [APPEND, { kind: 'append', count: 1 }], step: { kind: 'flush' } },
  'a merge': { before: [APPEND, { kind: 'flush' }, APPEND, { kind: 'flush' }], step: { kind: 'merge' } },
  'the retention': {
    first: [APPEND, { kind: 'flush' }, { kind: 'retention', hours: 31 }],
    before: [APPEND, { kind: 'flush' }],
    step: { kind: 'retention', hours: 31 },
  },
  'a restart': { before: [APPEND, { kind: 'flush' }, APPEND], step: { kind: 'restart' } },
};

/**
 * Lets each operation of a step fail once, the first one with the first of the codes, and so on in turn. Expects that searches answer
 * meanwhile, and that afterwards all goes on. Needs fake timers, because a flush that failed is tried again after a while.
 */
export async function failEachOperation(faulty: FaultyStep, codes: readonly Fault['code'][]): Promise<void> {
  await withFolder(async (root) => {
    const life = await History.begin(root, faulty.first);
    try {
      let failed = 0;
      for (; await failsOnce(life, faulty, { at: failed, code: codes[failed % codes.length] as Fault['code'] }); failed += 1) {
        await life.take(APPEND);
        await expectTruth(life);
        await life.take({ kind: 'restart' });
        await expectTruth(life);
        const { disk, truth } = [...crashPoints(life)].at(-1) as CrashPoint;
        expect(
          await whatIsWrong(
            disk.left((change) => (disk.isUnwritten(change) ? 'lost' : 'kept')),
            truth,
          ),
        ).toBeUndefined();
      }
      expect(failed).toBeGreaterThan(0);
    } finally {
      await life.end();
    }
  });
}

async function expectTruth(life: History): Promise<void> {
  expect(contradiction(await whatIsFound(life.store), life.truth)).toBeUndefined();
}

/** Takes a step whose operation fails, and again without the fault. Resolves with whether there was such an operation. */
async function failsOnce(life: History, { before, step }: FaultyStep, fault: Fault): Promise<boolean> {
  for (const one of before) await life.take(one);
  life.recording.failAt(fault);
  const error = await triedAgain(life, life.take(step));
  const hasFailed = life.recording.endFault();
  expect(error === undefined || hasFailed).toBe(true);
  if (step.kind === 'append' || step.kind === 'repeat') {
    expect(error === undefined).toBe(!hasFailed);
    const batches = life.truth.underWay;
    if (hasFailed) {
      expect(error).toMatchObject({ code: 'append_failed' });
      await life.refused();
      await expectTruth(life);
      await life.append(batches);
    }
  } else if (error !== undefined) {
    if (step.kind === 'restart') await life.open();
    await expectTruth(life);
    await life.take(step);
  }
  return hasFailed;
}

/** Resolves with the error of a step. Where the store itself tries it again, it answers and takes events in meanwhile. */
async function triedAgain(life: History, taken: Promise<void>): Promise<unknown> {
  let isOver = false;
  const outcome = taken
    .then(
      () => undefined,
      (error: unknown) => error,
    )
    .finally(() => {
      isOver = true;
    });
  while (!isOver && (await life.reasonsNotReady()).length === 0) await setImmediate();
  if (!isOver) {
    await expectTruth(life);
    await life.take(APPEND);
    await vi.advanceTimersByTimeAsync(RETRY_MS);
  }
  return await outcome;
}
