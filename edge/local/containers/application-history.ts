import type { ProgramMinute, ProgramView } from '../local-resource.ts';

/** A container application and its history. */
export interface Application {
  readonly id: string;
  readonly region: string;
  readonly image: string;
  readonly imageDisplay: string;
  readonly targetLatencyMs: number;
  readonly monthlyCost: number;
  readonly memoryLimitBytes: number;
  /** The minutes that began in `[fromMs, toMs)`, oldest first. Unknown minutes are left out. */
  minutes(fromMs: number, toMs: number): readonly ProgramMinute[];
}

/** The length of the history, in milliseconds. */
export const HISTORY_MS = 7 * 86_400_000;

export const GRANULARITIES = { Minute: 60_000, Hourly: 3_600_000, Daily: 86_400_000 } as const;
export type Granularity = keyof typeof GRANULARITIES;

/** Numbers by the ISO time at which a span begins. Unknown spans are left out. */
type Chart = Readonly<Record<string, number>>;

/** Groups minutes by their hour, day or minute (UTC), oldest first. */
export function bySpan(minutes: readonly ProgramMinute[], granularity: Granularity): ReadonlyMap<number, readonly ProgramMinute[]> {
  const widthMs = GRANULARITIES[granularity];
  return Map.groupBy(minutes, ({ startMs }) => Math.floor(startMs / widthMs) * widthMs);
}

export function chart(
  spans: ReadonlyMap<number, readonly ProgramMinute[]>,
  read: (minutes: readonly ProgramMinute[]) => number | null,
): Chart {
  return Object.fromEntries(
    [...spans].flatMap(([startMs, minutes]) => {
      const value = read(minutes);
      return value === null ? [] : [[new Date(startMs).toISOString(), value]];
    }),
  );
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The mean time to an answer over all answers; null where there was none. */
export function meanLatencyMs(minutes: readonly ProgramMinute[]): number | null {
  const answered = minutes.filter(({ latencyMs }) => latencyMs !== null);
  const requests = total(answered.map((minute) => minute.requests));
  return requests === 0 ? null : total(answered.map((minute) => (minute.latencyMs ?? 0) * minute.requests)) / requests;
}

/** A share in per cent; 0 where the whole is 0. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}

/** The running program as an application, measured. It costs nothing, and its target latency is 100 ms. */
export function programApplication(program: ProgramView): Application {
  return {
    id: 'shieldlog',
    region: 'local',
    image: 'shieldlog',
    imageDisplay: 'shieldlog',
    targetLatencyMs: 100,
    monthlyCost: 0,
    memoryLimitBytes: program.memoryLimitBytes,
    minutes: (fromMs, toMs) => program.minutes().filter(({ startMs }) => startMs >= fromMs && startMs < toMs),
  };
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

/** A number in [0, 1) that only depends on the minute and on `salt`. */
function noise(minute: number, salt: number): number {
  let bits = Math.imul(minute ^ Math.imul(salt, 0x9e37_79b9), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

function minuteAt(startMs: number): ProgramMinute {
  const minute = startMs / MINUTE_MS;
  // Afternoons (UTC) are the busiest.
  const busy = 0.5 + 0.5 * Math.sin(((startMs % DAY_MS) / DAY_MS) * 2 * Math.PI - Math.PI / 2);
  const requests = Math.round(200 + 1_800 * busy + 200 * noise(minute, 1));
  return {
    startMs,
    cpuPercent: 10 + 55 * busy + 10 * noise(minute, 2),
    memoryBytes: Math.round((220 + 120 * busy + 30 * noise(minute, 3)) * MIB),
    requests,
    latencyMs: 18 + 30 * busy + 8 * noise(minute, 4),
    sentBytes: requests * Math.round(9_000 + 4_000 * noise(minute, 5)),
    volumeUsedBytes: Math.round((3_000 + 20 * noise(minute, 6)) * MIB),
    volumeCapacityBytes: 10_240 * MIB,
  };
}

/** A made-up application, as a second one. Its samples are computed. */
export const seededApplication: Application = {
  id: 'demo-shop',
  region: 'DE',
  image: 'registry.example/demo-shop:1.4.2',
  imageDisplay: 'demo-shop:1.4.2',
  targetLatencyMs: 50,
  monthlyCost: 12.5,
  memoryLimitBytes: 512 * MIB,
  minutes(fromMs, toMs) {
    const minutes: ProgramMinute[] = [];
    for (let at = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS; at < toMs; at += MINUTE_MS) minutes.push(minuteAt(at));
    return minutes;
  },
};
