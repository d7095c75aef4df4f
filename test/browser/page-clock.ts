import type { Page } from 'playwright-core';

/** A script that makes the clock of a page wrong by `offsetMs`. Timers and the times of measurements stay as they are. */
export function wrongClock(offsetMs: number): string {
  return `(() => {
    const RealDate = Date;
    globalThis.Date = class extends RealDate {
      constructor(...given) { super(...(given.length === 0 ? [RealDate.now() + ${offsetMs}] : given)); }
      static now() { return RealDate.now() + ${offsetMs}; }
    };
  })();`;
}

/** Pauses the clock of a page that was opened with `movesClock`, at a time to which it has not come by itself, however slow the machine. */
export function pauseClock(page: Page): Promise<void> {
  return page.clock.pauseAt(Date.now() + 10_000);
}
