import type { Readable } from 'node:stream';
import { UpstreamTooSlow, UpstreamUnusable } from './proxy-failure.ts';

export interface AnswerLimits {
  readonly bodyMs: number;
  readonly maxBytes: number;
  /** The caller went away: the rest is not read. */
  readonly hungUp: AbortSignal;
}

/**
 * The whole body of an upstream's answer. It is gathered before anything is sent on, so that one that never ends, or breaks off, can still be
 * answered with an error. Rejects with UpstreamTooSlow, UpstreamUnusable, or the stream's own error; the stream is destroyed then, which
 * closes its connection.
 */
export async function readAnswer(stream: Readable, { bodyMs, maxBytes, hungUp }: AnswerLimits): Promise<Buffer> {
  const timer = setTimeout(() => stream.destroy(new UpstreamTooSlow(`the body took longer than ${bodyMs} ms`)), bodyMs);
  const onHangUp = (): void => void stream.destroy(hungUp.reason as Error);
  hungUp.addEventListener('abort', onHangUp, { once: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    if (hungUp.aborted) onHangUp();
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop destroys the stream.
      if (bytes > maxBytes) throw new UpstreamUnusable(`The upstream's answer is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
    hungUp.removeEventListener('abort', onHangUp);
  }
}

/** Closes an answer that nobody wants to read. */
export function dropAnswer(stream: Readable): void {
  // Destroying it reports an abort that is our own doing.
  stream.on('error', () => {});
  stream.destroy();
}
