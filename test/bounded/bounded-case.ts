import { eventually } from '../fixtures/eventually.ts';
import { ACCEPTED, askAs, type Client, type ClientFault, eventBatches, type Outcome, takeIn } from './clients.ts';
import type { ValueKind } from './event-values.ts';
import { MeasuredProgram } from './measured-program.ts';
import { LIMITS } from './measures.ts';
import type { Readings } from './probe.ts';
import type { RequestKind } from './requests.ts';

/** Events within the limits of intake, and callers whose requests are within `docs/limits.md`. */
export interface BoundedCase {
  readonly values: ValueKind;
  readonly events: number;
  /** Of an event, about. */
  readonly bytes: number;
  readonly zones: number;
  /** Over which time the events are spread. */
  readonly hours: number;
  readonly state: 'unflushed' | 'flushed' | 'merged';
  /** Each client asks these, one after the other. */
  readonly requests: readonly RequestKind[];
  /** Every second client has it. */
  readonly fault: ClientFault;
  /** What searches have of the clock. Absent: as the program has it by itself. */
  readonly deadlineMs?: number;
  readonly keys: number;
  /** Of each key. */
  readonly clients: number;
  /** What one client of one more key asks meanwhile. */
  readonly beside?: RequestKind;
}

/** What a part of a case took, and what its requests were answered. */
export interface Measured {
  readonly readings: Readings;
  readonly outcomes: readonly Outcome[];
  /** Lines of the log that tell of a defect. */
  readonly defects: readonly string[];
}

const HOUR_MS = 3_600_000;

/** Runs a case in a program of its own, and measures its intake, then its requests. */
export async function measure(one: BoundedCase): Promise<{ readonly intake: Measured; readonly requests: Measured }> {
  const keys = one.keys + (one.beside === undefined ? 0 : 1);
  const program = await MeasuredProgram.start({ keys, deadlineMs: one.deadlineMs });
  try {
    await program.reset();
    await fill(program, one);
    const intake = { readings: await program.read(), outcomes: [], defects: program.defects() };
    await program.reset();
    const outcomes = await ask(program, one);
    return { intake, requests: { readings: await readAtEnd(program), outcomes, defects: program.defects() } };
  } finally {
    await program.stop();
  }
}

async function fill(program: MeasuredProgram, { values, bytes, zones, events, hours, state }: BoundedCase): Promise<void> {
  let batches = 0;
  for (const lines of eventBatches({ kind: values, bytes, zones }, events, hours * HOUR_MS)) {
    const { status, told } = await takeIn(program, lines);
    if (status !== ACCEPTED) throw new Error(`the events of the case are not taken in: ${status} ${told}`);
    batches += 1;
    // A merge needs several segments.
    if (state === 'merged' && batches <= 2) await program.flush();
  }
  if (state !== 'unflushed') await program.flush();
  if (state === 'merged') await program.compact();
}

async function ask(program: MeasuredProgram, one: BoundedCase): Promise<readonly Outcome[]> {
  const { keys, clients, fault, requests, beside, values: kind, bytes, zones } = one;
  const through = Promise.withResolvers<void>();
  const client = (number: number): Client => {
    const values = { kind, bytes, zones };
    return { program, number, caller: number % keys, fault: number % 2 === 1 ? fault : 'none', values, othersDone: through.promise };
  };
  const run = async (asking: Client, kinds: readonly RequestKind[]): Promise<readonly Outcome[]> => {
    const outcomes: Outcome[] = [];
    for (const each of kinds) outcomes.push(await askAs(asking, each));
    return outcomes;
  };
  const all = Array.from({ length: keys * clients }, (_, number) => client(number));
  const running = all.map((each) => ({ each, outcomes: run(each, requests) }));
  if (beside !== undefined) {
    const another = { ...client(keys * clients), caller: keys, fault: 'none' } as const;
    running.push({ each: another, outcomes: run(another, [beside]) });
  }
  await Promise.all(running.filter(({ each }) => each.fault === 'none').map(({ outcomes }) => outcomes));
  through.resolve();
  return (await Promise.all(running.map(({ outcomes }) => outcomes))).flat();
}

/** Waits until statements that were interrupted have ended, or one has taken more than it may. */
async function readAtEnd(program: MeasuredProgram): Promise<Readings> {
  let readings = await program.read();
  await eventually('statements that were interrupted end', async () => {
    readings = await program.read();
    return readings.runningInterrupted === 0 || readings.interruptedMs > LIMITS.interrupt;
  });
  return readings;
}
