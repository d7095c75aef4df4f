import type { ZoneRowCacheLimits } from './zone-row-cache-limits.ts';

/** Tells by the searches in many files which zones are worth a table. */
export class ZoneDemand {
  readonly #limits: ZoneRowCacheLimits;
  readonly #now: () => number;
  /** When a zone was last searched in many files. */
  readonly #asked = new Map<number, number>();
  /** When a table of a zone was last begun. */
  readonly #begun = new Map<number, number>();
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  /** `now`: Unix milliseconds. */
  constructor(limits: ZoneRowCacheLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** To be called for every search in many files: whether a table of the zone is to be made now. */
  isWorthCaching(zoneId: number): boolean {
    const { keptMs, remadeAfterMs } = this.#limits;
    const nowMs = this.#now();
    if (nowMs < this.#pausedUntilMs || nowMs - lastOf(this.#begun, zoneId) < remadeAfterMs) {
      return false;
    }
    const isAgain = nowMs - lastOf(this.#asked, zoneId) < keptMs;
    this.#asked.set(zoneId, nowMs);
    if (isAgain) {
      this.#asked.delete(zoneId);
      this.#begun.set(zoneId, nowMs);
    }
    return isAgain;
  }

  /** No zone is for a while. */
  pause(): void {
    this.#pausedUntilMs = this.#now() + this.#limits.pauseMs;
  }

  /** Forgets what makes no difference any more. */
  forgetOld(): void {
    const { keptMs, remadeAfterMs } = this.#limits;
    forgetBefore(this.#asked, this.#now() - keptMs);
    forgetBefore(this.#begun, this.#now() - remadeAfterMs);
  }
}

function lastOf(times: ReadonlyMap<number, number>, zoneId: number): number {
  return times.get(zoneId) ?? Number.NEGATIVE_INFINITY;
}

function forgetBefore(times: Map<number, number>, oldestMs: number): void {
  for (const [zoneId, atMs] of times) {
    if (atMs < oldestMs) {
      times.delete(zoneId);
    }
  }
}
