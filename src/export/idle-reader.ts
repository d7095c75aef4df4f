import type { ServerResponse } from 'node:http';

/** Why an export was cut off whose client did not read. */
export class ReaderIdle extends Error {
  override readonly name = 'ReaderIdle';

  constructor(idleMs: number) {
    super(`the client took no byte for ${idleMs} ms`);
  }
}

/**
 * Calls `onIdle` when the client has taken none of the bytes that wait for it for so long. Where none are waiting, it is us who are slow,
 * and nothing happens.
 */
export function watchReader(response: ServerResponse, idleMs: number, onIdle: (reason: ReaderIdle) => void): void {
  response.setTimeout(idleMs, () => {
    if (response.writableLength > 0) onIdle(new ReaderIdle(idleMs));
    else response.setTimeout(idleMs);
  });
}
