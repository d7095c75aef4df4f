import { connect } from 'node:net';
import { answersIn, isEventStream, type WireAnswer } from './wire-answers.ts';

/** The bytes of a request, in the pieces in which they are written. */
export interface WireRequest {
  readonly pieces: readonly Buffer[];
  /** The program may have to wait for more: the client gives up after a while. */
  readonly mayBeIncomplete: boolean;
}

export interface Exchange {
  /** Whole ones, but for the last of a connection that the client ended. */
  readonly answers: readonly WireAnswer[];
  /** The client ended the connection, because no answer came. */
  readonly gaveUp: boolean;
}

/** How long a client whose request may be incomplete waits for an answer; one that comes later is not looked at. */
const PATIENCE_MS = 150;
/** How long a connection may take in all. A generous limit for what hangs, no measurement. */
const HANGS_MS = 60_000;

/**
 * Sends a request on a connection of its own, ends its half when the first answer is there, and resolves when the program has closed the
 * connection. Rejects where that does not happen, where the connection is reset or closed before an answer, and where what comes is no
 * HTTP.
 */
export function exchange(port: number, { pieces, mayBeIncomplete }: WireRequest): Promise<Exchange> {
  const isHead = Buffer.concat(pieces).toString('latin1', 0, 5) === 'HEAD ';
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const received: Buffer[] = [];
    let hasEnded = false;
    let isAnswered = false;
    let gaveUp = false;
    let failure: Error | undefined;
    let waiting: NodeJS.Timeout | undefined;
    const answers = (): readonly WireAnswer[] => answersIn({ bytes: Buffer.concat(received), hasEnded, isHead });
    const fail = (what: string): void => {
      failure ??= new Error(`${what}; received: ${Buffer.concat(received).toString('latin1', 0, 1_000)}`);
      socket.destroy();
    };
    const hanging = setTimeout(() => fail(`the connection did not end within ${HANGS_MS} ms`), HANGS_MS);
    const giveUpLater = (): void => {
      clearTimeout(waiting);
      if (!mayBeIncomplete || isAnswered) return;
      waiting = setTimeout(() => {
        gaveUp = true;
        socket.end();
      }, PATIENCE_MS);
    };
    const look = (): void => {
      if (isAnswered || failure !== undefined) return;
      try {
        const [answer] = answers();
        if (answer?.isWhole !== true) return;
        isAnswered = true;
        clearTimeout(waiting);
        // A stream of events has no end but that its client goes away.
        if (isEventStream(answer)) socket.destroy();
        else socket.end();
      } catch (error) {
        fail((error as Error).message);
      }
    };
    socket.on('connect', () => {
      for (const piece of pieces.slice(0, -1)) socket.write(piece);
      socket.write(pieces.at(-1) ?? '', giveUpLater);
    });
    socket.on('data', (chunk) => {
      received.push(chunk);
      giveUpLater();
      look();
    });
    socket.on('end', () => {
      hasEnded = true;
      look();
      socket.end();
    });
    // After an answer the server may close the connection while the client still sends.
    socket.on('error', (error) => isAnswered || gaveUp || fail(`the connection broke before an answer: ${error.message}`));
    socket.on('close', () => {
      clearTimeout(waiting);
      clearTimeout(hanging);
      if (!isAnswered && !gaveUp) fail('the connection was closed without an answer');
      if (failure === undefined) resolve({ answers: answers(), gaveUp });
      else reject(failure);
    });
  });
}
