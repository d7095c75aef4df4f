/** The examples are about the hour before this, Unix ms UTC. */
const EXAMPLES_AT_MS = Date.UTC(2026, 0, 1, 1);

/** Times of that hour, as numbers or ISO 8601, also inside the text of lines. */
const EXAMPLE_NUMBER = /\b176722[5-9]\d{6}\b/g;
const EXAMPLE_TEXT = /\b2026-01-01T0[01]:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * The document with the times of its examples moved to the hour before `nowMs`: a search looks back 72 hours at most, and the examples of a page
 * are to be tried.
 */
export function withCurrentTimes(document: object, nowMs: number): Record<string, unknown> {
  const byMs = nowMs - EXAMPLES_AT_MS;
  const text = JSON.stringify(document)
    .replaceAll(EXAMPLE_NUMBER, (time) => String(Number(time) + byMs))
    .replaceAll(EXAMPLE_TEXT, (time) => new Date(Date.parse(time) + byMs).toISOString());
  return JSON.parse(text) as Record<string, unknown>;
}
