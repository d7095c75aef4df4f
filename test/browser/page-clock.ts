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

/**
 * A script that makes the clock of a page show `timeMs` (Unix ms) at about now and go on from there, beside a program whose clock is moved,
 * too. The `Date` of the program's answers, which Node takes from the real clock, is moved as well.
 */
export function pageClock(timeMs: number): string {
  const offsetMs = timeMs - Date.now();
  return `${wrongClock(offsetMs)}(() => {
    const get = Headers.prototype.get;
    Headers.prototype.get = function (name) {
      const text = get.call(this, name);
      return name !== 'date' || text === null ? text : new Date(Date.parse(text) + ${offsetMs}).toUTCString();
    };
  })();`;
}
