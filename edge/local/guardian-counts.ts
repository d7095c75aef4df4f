import type { GuardianCounter } from '../schemas/api-guardian-metrics.ts';

/** What API Guardian did for a shield zone on one day, from the events stored of it. */
export interface GuardianDay {
  /** UTC, `2026-01-31`. */
  readonly day: string;
  readonly counts: Readonly<Record<GuardianCounter, number>>;
}

/** The past 28 days of a shield zone, today included, oldest first; a day without events has zeros. */
export type GuardianCounts = (zoneId: number) => Promise<readonly GuardianDay[]>;
