import type { ServerResponse } from 'node:http';
import { CallerGone, UpstreamTooSlow } from './proxy-failure.ts';

/** A request that is being handed to an upstream. */
export interface ProxyCall {
  /** Aborts when the caller goes away before its answer has left, and when the upstream's headers are late. */
  readonly signal: AbortSignal;
  /** The headers are there: from now on only the caller's going away counts. */
  headersCame(): void;
}

/** From the request being handed over, waiting for a connection included, the upstream has `headersMs` for its headers. */
export function beginCall(response: ServerResponse, headersMs: number): ProxyCall {
  const controller = new AbortController();
  const late = setTimeout(() => controller.abort(new UpstreamTooSlow(`no headers within ${headersMs} ms`)), headersMs);
  const onClose = (): void => {
    clearTimeout(late);
    if (!response.writableFinished) controller.abort(new CallerGone('the caller closed the connection before the answer'));
  };
  // It may have gone while the request was judged.
  if (response.closed || response.destroyed) onClose();
  else response.once('close', onClose);
  return { signal: controller.signal, headersCame: () => clearTimeout(late) };
}
