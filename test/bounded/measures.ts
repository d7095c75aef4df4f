import type { Measured } from './bounded-case.ts';
import type { Outcome } from './clients.ts';
import type { KnownFalls } from './known-falls.ts';
import type { RequestKind } from './requests.ts';

/** The settings of the cases are those that the program has by itself. */
const DEFAULT_MEMORY_LIMIT_MB = 1_024;

/** MiB of resident memory that do not hang on the setting: the program, its threads, and what is being read and written. */
const BASE_MIB = 520;
/** DuckDB has the setting, that of the merges a quarter of it. */
const SHARES = 1.25;

/** The most resident memory that the program takes at a `MEMORY_LIMIT_MB`, in MiB. */
const residentLimitMib = (memoryLimitMb: number): number => BASE_MIB + SHARES * memoryLimitMb;

export type Measure = 'main thread' | 'memory' | 'status 500' | 'connection' | 'interrupt';

/** The most of each measure: milliseconds of CPU time, MiB, answers. */
export const LIMITS: Readonly<Record<Measure, number>> = {
  'main thread': 100,
  memory: residentLimitMib(DEFAULT_MEMORY_LIMIT_MB),
  'status 500': 0,
  connection: 0,
  interrupt: 5_000,
};

/** A fall that is known has to be at least so far past its limit that a slower or faster machine does not change it. */
const STILL_FALLS = 0.75;

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
    'main thread': { amount: readings.turnMs, shown: `${readings.turnMs.toFixed(0)} ms`, of: readings.turnDuring },
    memory: { amount: readings.peakMemoryMib, shown: `${readings.peakMemoryMib.toFixed(0)} MiB`, of: '' },
    'status 500': { amount: undocumented.length, shown: String(undocumented.length), of: `${lines(undocumented)} ${defects.join('\n')}` },
    connection: { amount: broken.length, shown: String(broken.length), of: lines(broken) },
    interrupt: { amount: readings.interruptedMs, shown: `${readings.interruptedMs.toFixed(0)} ms`, of: readings.interruptedStatement },
  };
}

const MEASURES = Object.keys(LIMITS) as Measure[];

/** What is wrong: a measure past its limit that is no known fall, and a known fall that is none any more. */
export function faults(measured: Measured, { falls = {}, mayFall = [] }: KnownFalls = {}): readonly string[] {
  const found = values(measured);
  return MEASURES.flatMap((measure) => {
    const { amount, shown, of } = found[measure];
    const limit = LIMITS[measure];
    const known = falls[measure];
    if (known !== undefined) {
      const falling = limit === 0 ? amount > 0 : amount > limit * STILL_FALLS;
      return falling ? [] : [`${measure}: ${shown} do not fall any more (${known.reading} before): take the row out of known-falls.ts`];
    }
    return amount <= limit || mayFall.includes(measure) ? [] : [`${measure}: ${shown}, allowed ${limit}; ${of}`];
  });
}

/** One line for people. */
export function summary(measured: Measured): string {
  const found = values(measured);
  const statuses = measured.outcomes.map(({ end, status }) => (end === 'whole' ? String(status) : end));
  const counts = [...new Set(statuses)].map((status) => `${statuses.filter((other) => other === status).length} × ${status}`);
  return [...MEASURES.map((measure) => `${measure} ${found[measure].shown}`), ...counts].join(', ');
}
