/** A zone that had events lately, and the time of the last of them, Unix ms UTC. */
export interface ZoneActivity {
  readonly zoneId: number;
  readonly lastMs: number;
}

export interface SilenceOptions {
  readonly silentForMs: number;
  /** A zone whose last event is older was silent before anybody looked. */
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** The zones whose last event is more than a while ago, ascending. */
export function silentZones(zones: readonly ZoneActivity[], { silentForMs, sinceMs, nowMs }: SilenceOptions): readonly number[] {
  return zones
    .filter(({ lastMs }) => lastMs >= sinceMs && lastMs < nowMs - silentForMs)
    .map(({ zoneId }) => zoneId)
    .toSorted((one, other) => one - other);
}
