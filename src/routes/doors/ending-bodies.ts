import { createHash } from 'node:crypto';
import { RequestProblem } from '../../http/problem.ts';

/** So many lengths and digests are remembered, the latest ones. */
const MOST_KNOWN = 1_000;

/** A body that is about to be taken in. */
export interface WatchedBody {
  /** A thread has ended at it. */
  noteEnd(): void;
}

/**
 * Remembers the bodies at which threads have ended. A shipper that is told to try again would send one that ends them each time for ever,
 * so that it is refused from the third time on, which shippers take for an answer. To hash each body would cost the main thread too much:
 * only those are hashed that are as long as one at which a thread has ended.
 */
export class EndingBodies {
  readonly #lengths = new Set<number>();
  readonly #digests = new Set<string>();

  /** `how` names all that decides what becomes of the bytes. Throws RequestProblem `request.malformed` for those that ended two threads. */
  watch(body: Uint8Array, how: string): WatchedBody {
    const { length } = body;
    const digest = this.#lengths.has(length) ? createHash('sha256').update(`${how}\n`).update(body).digest('hex') : null;
    if (digest !== null && this.#digests.has(digest)) {
      throw new RequestProblem('request.malformed', 'Threads of the program have ended at these bytes before; they are refused for good');
    }
    return { noteEnd: () => (digest === null ? remember(this.#lengths, length) : remember(this.#digests, digest)) };
  }
}

function remember<T>(known: Set<T>, one: T): void {
  known.add(one);
  const [oldest] = known;
  if (known.size > MOST_KNOWN) known.delete(oldest as T);
}
