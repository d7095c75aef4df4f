/** How often the first in the queue tries by itself, in milliseconds: only the end of a whole request is told. */
const TRY_EVERY_MS = 5;

/** Lets a process that found the database locked try again, or, with `false`, fail. It is called once for each `locked`. */
export type LockedWriter = (mayTry: boolean) => void;

/** The database processes that wait for the lock of another writer, in the order in which they found it taken. */
export interface WriteQueue {
  /** The writer found the database locked, for the first time or again. It may try until it has waited for too long. */
  locked(writer: LockedWriter): void;
  /** Its statement or its request has ended, so it waits no longer, and the lock may be free. */
  ended(writer: LockedWriter): void;
}

interface Place {
  readonly writer: LockedWriter;
  /** By `performance.now()`. */
  readonly deadline: number;
  isTrying: boolean;
  hasTried: boolean;
}

/**
 * Makes the queue of one database. SQLite has each waiting writer look again after longer and longer pauses, so that the lock goes to
 * whoever comes at the right moment. Here the first in the queue alone looks, whenever a request has ended.
 */
export function makeWriteQueue(waitMs: number): WriteQueue {
  let queue: readonly Place[] = [];
  let ticking: NodeJS.Timeout | null = null;

  function leave(writer: LockedWriter): void {
    queue = queue.filter((place) => place.writer !== writer);
    if (queue.length > 0 || ticking === null) return;
    clearInterval(ticking);
    ticking = null;
  }

  function letTry(): void {
    const now = performance.now();
    const [head] = queue;
    for (const place of queue) {
      const { writer, deadline, isTrying, hasTried } = place;
      // A program that is busy for long is late, and the lock may be free meanwhile.
      if (isTrying || now < deadline || (place === head && !hasTried)) continue;
      leave(writer);
      writer(false);
    }
    const [first] = queue;
    if (first === undefined || first.isTrying) return;
    first.isTrying = true;
    first.hasTried = true;
    first.writer(true);
  }

  return {
    locked(writer) {
      const place = queue.find((each) => each.writer === writer);
      if (place === undefined) queue = [...queue, { writer, deadline: performance.now() + waitMs, isTrying: false, hasTried: false }];
      else place.isTrying = false;
      ticking ??= setInterval(letTry, TRY_EVERY_MS).unref();
    },
    ended(writer) {
      leave(writer);
      letTry();
    },
  };
}
