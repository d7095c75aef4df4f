/** Answers tell whole seconds and take a while to arrive; what differs by less is taken for the same time. */
const SAME_MS = 5_000;

let aheadMs = 0;

/** How far the program's clock is ahead of the browser's, in milliseconds; 0 until an answer has told something else. */
export function programAhead(): number {
  return aheadMs;
}

/** The program's time in Unix milliseconds, as far as its answers have told it: the browser's clock may be wrong. */
export function programNow(): number {
  return Date.now() + aheadMs;
}

/** Takes the program's time from the `Date` of an answer that has just arrived. */
export function learnTime(date: string | null): void {
  const told = Date.parse(date ?? '');
  if (Number.isNaN(told) || Math.abs(told - programNow()) <= SAME_MS) return;
  const ahead = told - Date.now();
  aheadMs = Math.abs(ahead) <= SAME_MS ? 0 : ahead;
}
