import type { ServerResponse } from 'node:http';

/** A caller who takes nothing of an answer for so long is cut off. */
export const CALLER_IDLE_MS = 30_000;

/**
 * Cuts a caller off who takes none of the bytes that wait for it for `idleMs`. If no bytes wait, the program is slow and nothing happens.
 * `createHttpServer` in `src/http/http-server.ts` holds every answer to it; a later call for the same answer replaces the one before.
 */
export function cutOffIdle(response: ServerResponse, idleMs = CALLER_IDLE_MS, cutOff = (): unknown => response.destroy()): void {
  response.removeAllListeners('timeout');
  response.setTimeout(idleMs, () => {
    if (response.writableLength > 0) cutOff();
    else response.socket?.setTimeout(idleMs);
  });
}

/** Calls `act` when the connection closes before the response is written; at once where it has, as while a body was read and checked. */
export function whenCallerLeaves(response: ServerResponse, act: () => void): void {
  const onClose = (): void => {
    if (!response.writableFinished) act();
  };
  if (response.closed || response.destroyed) onClose();
  else response.once('close', onClose);
}
