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
