import type { Readable } from 'node:stream';
import { UpstreamFault } from './upstream-failure.ts';

/**
 * The memory that answers may take together, from their first byte until the caller has taken them, or bodies while their answers have not
 * been taken, in bytes.
 */
export interface UpstreamBudget {
  /** Throws what the budget was made with where there are not so many bytes left. */
  take(bytes: number): void;
  give(bytes: number): void;
}

const answersSpent = (): Error => new UpstreamFault('NO_ROOM_FOR_ANSWER', 'Too many large answers are on their way; try again later');

export function makeUpstreamBudget(capacityBytes: number, spent: () => Error = answersSpent): UpstreamBudget {
  let takenBytes = 0;
  return {
    take(bytes) {
      if (takenBytes + bytes > capacityBytes) throw spent();
      takenBytes += bytes;
    },
    give(bytes) {
      takenBytes -= bytes;
    },
  };
}

interface AnswerLimits {
  readonly bodyMs: number;
  readonly maxBytes: number;
  /** The memory that all answers share. */
  readonly budget: UpstreamBudget;
  /** The caller went away: the rest is not read. */
  readonly hungUp: AbortSignal;
}

/** A whole answer. */
interface GatheredAnswer {
  readonly body: Buffer;
  /** Call it once, when the body is sent or no longer needed. */
  release(): void;
}

/**
 * Reads the whole body of an upstream's answer. Nothing is sent before: after the status has been sent, an answer that is too large, too
 * slow or breaks off could only end in a broken connection and not in the operation's error shape. Rejects with UpstreamFault, or
 * the stream's own error; the stream is destroyed then, which closes its connection.
 */
export async function gatherAnswer(stream: Readable, { bodyMs, maxBytes, budget, hungUp }: AnswerLimits): Promise<GatheredAnswer> {
  const timer = setTimeout(() => stream.destroy(new UpstreamFault('UPSTREAM_TOO_SLOW', `the body took longer than ${bodyMs} ms`)), bodyMs);
  const onHangUp = (): void => void stream.destroy(hungUp.reason as Error);
  hungUp.addEventListener('abort', onHangUp, { once: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const release = (): void => budget.give(bytes);
  try {
    if (hungUp.aborted) onHangUp();
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      // Leaving the loop destroys the stream.
      if (bytes + chunk.length > maxBytes)
        throw new UpstreamFault('UPSTREAM_UNUSABLE', `The upstream's answer is larger than ${maxBytes} bytes`);
      budget.take(chunk.length);
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

/** Closes an answer that is not needed. */
export function dropAnswer(stream: Readable): void {
  // Destroying it reports an abort, which is expected.
  stream.on('error', () => {});
  stream.destroy();
}
