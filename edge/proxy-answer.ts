import type { Readable } from 'node:stream';
import type { AnswerRoom } from './answer-room.ts';
import { UpstreamTooSlow, UpstreamUnusable } from './proxy-failure.ts';

export interface AnswerLimits {
  readonly bodyMs: number;
  readonly maxBytes: number;
  /** What every answer takes from. */
  readonly room: AnswerRoom;
  /** The caller went away: the rest is not read. */
  readonly hungUp: AbortSignal;
}

/** An answer that is there as a whole. */
export interface GatheredAnswer {
  readonly body: Buffer;
  /** To be called once, when the body has left or is not wanted any more. */
  release(): void;
}

/**
 * The whole body of an upstream's answer. It is gathered before anything is sent on: once a status has left, an answer that is too large,
 * too slow or breaks off could only end in a broken connection, never in the operation's error shape. Rejects with UpstreamTooSlow,
 * UpstreamUnusable, NoRoomForAnswer, or the stream's own error; the stream is destroyed then, which closes its connection.
 */
export async function gatherAnswer(stream: Readable, { bodyMs, maxBytes, room, hungUp }: AnswerLimits): Promise<GatheredAnswer> {
  const timer = setTimeout(() => stream.destroy(new UpstreamTooSlow(`the body took longer than ${bodyMs} ms`)), bodyMs);
  const onHangUp = (): void => void stream.destroy(hungUp.reason as Error);
  hungUp.addEventListener('abort', onHangUp, { once: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const release = (): void => room.give(bytes);
  try {
    if (hungUp.aborted) onHangUp();
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      // Leaving the loop destroys the stream.
      if (bytes + chunk.length > maxBytes) throw new UpstreamUnusable(`The upstream's answer is larger than ${maxBytes} bytes`);
      room.take(chunk.length);
      bytes += chunk.length;
      chunks.push(chunk);
    }
    return { body: Buffer.concat(chunks), release };
  } catch (error) {
    release();
    throw error;
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
