/**
 * A script that makes the clock of a page show `timeMs` (Unix ms) when it is loaded and go on from there, beside a program whose clock is
 * moved, too. Timers and the times of measurements stay as they are.
 */
export function pageClock(timeMs: number): string {
  return `(() => {
    const RealDate = Date;
    const offsetMs = ${timeMs} - RealDate.now();
    globalThis.Date = class extends RealDate {
      constructor(...given) { super(...(given.length === 0 ? [RealDate.now() + offsetMs] : given)); }
      static now() { return RealDate.now() + offsetMs; }
    };
  })();`;
}
