import type { ServerResponse } from 'node:http';

/** A caller who takes nothing of an answer for so long is cut off. */
export const CALLER_IDLE_MS = 30_000;

/** Cuts a caller off who takes nothing of the answer for `idleMs`. Answers of the operations and of the search are held to it. */
export function cutOffIdle(response: ServerResponse, idleMs: number = CALLER_IDLE_MS): void {
  response.setTimeout(idleMs, () => response.destroy());
}
