/** A part of the program that a stop waits for. */
export interface StopStep {
  /** Names the part that the stop waits for, for people to read. */
  readonly name: () => string;
  /** Ends the part. Work under way is finished until `hurry` aborts, and then cut off. */
  readonly stop: (hurry: AbortSignal) => Promise<void>;
}

/** The steps of a stage run at the same time. The next stage begins when all of them have ended, failed or not. */
export type StopStages = readonly (readonly StopStep[])[];

export interface StopLimits {
  /** Work under way may go on for so long, in milliseconds. */
  readonly graceMs: number;
  /** The stop takes no longer than this, in milliseconds. */
  readonly deadlineMs: number;
}

export const STOP_LIMITS: StopLimits = {
  /** Less than the 10 s after which Docker kills. */
  graceMs: 8_000,
  /** A stop that takes longer has failed. All accepted events are on disk then, as before a kill. */
  deadlineMs: 15_000,
};

/** A stop was given up because a part hangs. The message names it. */
export class StopOverdue extends Error {
  override readonly name = 'StopOverdue';

  constructor(deadlineMs: number, names: readonly string[]) {
    super(`the stop was not finished within ${deadlineMs / 1000} s; it still waited for ${names.join(' and ')}`);
  }
}

/** Rejects with the first error of a step once all stages have ended, or with StopOverdue at the deadline. */
export async function stopAll(stages: StopStages, { graceMs, deadlineMs }: StopLimits): Promise<void> {
  const waitingFor = new Set<StopStep>();
  const hurry = new AbortController();
  const overdue = Promise.withResolvers<never>();
  const grace = setTimeout(() => hurry.abort(), graceMs);
  const deadline = setTimeout(() => {
    const names = [...waitingFor].map(({ name }) => name());
    overdue.reject(new StopOverdue(deadlineMs, names));
  }, deadlineMs);
  try {
    await Promise.race([runStages(stages, waitingFor, hurry.signal), overdue.promise]);
  } finally {
    clearTimeout(grace);
    clearTimeout(deadline);
  }
}

async function runStages(stages: StopStages, waitingFor: Set<StopStep>, hurry: AbortSignal): Promise<void> {
  const errors: unknown[] = [];
  for (const stage of stages) {
    await Promise.all(
      stage.map(async (step) => {
        waitingFor.add(step);
        try {
          await step.stop(hurry);
        } catch (error) {
          errors.push(error);
        } finally {
          waitingFor.delete(step);
        }
      }),
    );
  }
  if (errors.length > 0) throw errors[0];
}
