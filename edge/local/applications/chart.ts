import type { ProgramMinute } from '../program-view.ts';

export const GRANULARITIES = { Minute: 60_000, Hourly: 3_600_000, Daily: 86_400_000 } as const;
export type Granularity = keyof typeof GRANULARITIES;

/** From the ISO time at which a span begins to its number. Spans of which nothing is known are left out. */
export type Chart = Readonly<Record<string, number>>;

/** Minutes by the hour, day or minute (UTC) that they are in; oldest first. */
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

/** The mean time to an answer, every answer counting the same; null where nothing was answered. */
export function meanLatencyMs(minutes: readonly ProgramMinute[]): number | null {
  const answered = minutes.filter(({ latencyMs }) => latencyMs !== null);
  const requests = total(answered.map((minute) => minute.requests));
  return requests === 0 ? null : total(answered.map((minute) => (minute.latencyMs ?? 0) * minute.requests)) / requests;
}

/** Per cent; 0 where there is nothing to be a part of. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}
