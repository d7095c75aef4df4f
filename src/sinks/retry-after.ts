/** Nobody is waited for longer than this, whatever they ask. */
const LONGEST_MS = 3_600_000;

/**
 * The wait that a `Retry-After` header asks for (RFC 9110: seconds, or a date), in milliseconds; null where there is none or it is neither.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? '';
  const askedMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isNaN(askedMs) ? null : Math.min(Math.max(askedMs, 0), LONGEST_MS);
}
