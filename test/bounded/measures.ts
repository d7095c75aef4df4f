import { loadConfig } from '../../src/config/config.ts';
import type { Measured } from './bounded-case.ts';
import type { Outcome } from './clients.ts';
import { residentMb } from './measured-program.ts';
import type { RequestKind } from './requests.ts';

export type Measure = 'main thread' | 'memory' | 'status 500' | 'connection' | 'interrupt';

/** The most of each measure: milliseconds of CPU time (of the main thread more on a slower processor), MiB, answers. */
export const LIMITS: Readonly<Record<Measure, number>> = {
  'main thread': 100,
  memory: residentMb(loadConfig({}).memoryLimitMb),
  'status 500': 0,
  connection: 0,
  interrupt: 5_000,
};

interface Value {
  readonly amount: number;
  readonly shown: string;
  /** What it was about. */
  readonly of: string;
}

/** Statuses that documents name for requests within the limits. */
const DOCUMENTED = [200, 202, 416, 429, 503];
/** Requests with texts to look for, of which the program may refuse those that cost too much. */
const REFUSABLE: readonly RequestKind[] = ['contains', 'wildcard', 'query', 'tail'];

function isDocumented({ kind, status }: Outcome): boolean {
  return status === undefined || DOCUMENTED.includes(status) || (status === 400 && REFUSABLE.includes(kind));
}

function values({ readings, outcomes, defects }: Measured): Readonly<Record<Measure, Value>> {
  const broken = outcomes.filter(({ end }) => end === 'broken');
  const undocumented = outcomes.filter((outcome) => !isDocumented(outcome));
  const lines = (found: typeof outcomes): string => found.map(({ kind, status, told }) => `${kind}: ${status} ${told}`).join('\n');
  return {
    'main thread': {
      amount: readings.turnMs / Math.max(1, readings.slowness),
      shown: `${readings.turnMs.toFixed(0)} ms (slowness ${readings.slowness.toFixed(1)})`,
      of: readings.turnDuring,
    },
    memory: { amount: readings.peakMemoryMib, shown: `${readings.peakMemoryMib.toFixed(0)} MiB`, of: '' },
    'status 500': { amount: undocumented.length, shown: String(undocumented.length), of: `${lines(undocumented)} ${defects.join('\n')}` },
    connection: { amount: broken.length, shown: String(broken.length), of: lines(broken) },
    interrupt: { amount: readings.interruptedMs, shown: `${readings.interruptedMs.toFixed(0)} ms`, of: readings.interruptedStatement },
  };
}

const MEASURES = Object.keys(LIMITS) as Measure[];

/** Those of `measures` that are past their limits. */
export function faults(measured: Measured, measures: readonly Measure[] = MEASURES): readonly string[] {
  const found = values(measured);
  return measures
    .filter((measure) => found[measure].amount > LIMITS[measure])
    .map((measure) => {
      const { shown, of } = found[measure];
      return `${measure}: ${shown}, allowed ${LIMITS[measure]}; ${of}`;
    });
}

/** One line for people. */
export function summary(measured: Measured): string {
  const found = values(measured);
  const statuses = measured.outcomes.map(({ end, status }) => (end === 'whole' ? String(status) : end));
  const counts = [...new Set(statuses)].map((status) => `${statuses.filter((other) => other === status).length} × ${status}`);
  return [...MEASURES.map((measure) => `${measure} ${found[measure].shown}`), ...counts].join(', ');
}
