import { setImmediate as nextTurn } from 'node:timers/promises';

/** So much work is done in one turn of the event loop. One piece of work may take longer. */
const TURN_MS = 10;

/**
 * Shares the main thread between jobs that could each go on without waiting for anything: together they work for some milliseconds in a
 * turn of the event loop, whichever of them it is, so that timers and sockets have theirs. Without sharing, each of sixteen jobs would end
 * its turn in time, and all of them would begin the next one together.
 */
export class MainThreadTurns {
  readonly #now: () => number;
  #spentMs = 0;
  /** Jobs that have been given a turn and have not ended their work: each of them may take as long as it likes. */
  #begun = 0;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  /** `now` tells milliseconds since any fixed time. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Waits until some work may be done, in the order of the calls. The work has to be ended, and must wait for nothing meanwhile. */
  async begin(): Promise<Work> {
    if (this.#spentMs >= TURN_MS || this.#begun + this.#waiting > 0) await this.#nextTurn();
    return this.#work();
  }

  /** Does work that ends by itself, in a turn as `begin` gives it. */
  async run<T>(act: () => T): Promise<T> {
    return actAndEnd(await this.begin(), act);
  }

  /** Does all steps of a job, as many of them in a turn as may be. */
  async runSteps(steps: Iterator<void>): Promise<void> {
    for (let isDone = false; !isDone; ) {
      const work = await this.begin();
      try {
        while (!isDone && !work.isLong()) isDone = steps.next().done === true;
      } finally {
        work.end();
      }
    }
  }

  /** The same as `run`, in another turn of the event loop in any case. */
  async runInAnother<T>(act: () => T): Promise<T> {
    return actAndEnd(await this.beginAnother(), act);
  }

  /** Waits for another turn of the event loop in any case. */
  async beginAnother(): Promise<Work> {
    await this.#nextTurn();
    return this.#work();
  }

  async #nextTurn(): Promise<void> {
    this.#waiting += 1;
    // One waits after the other, so that no two go on in the same turn.
    this.#last = this.#last.then(() => nextTurn());
    await this.#last;
    this.#waiting -= 1;
    this.#spentMs = 0;
  }

  #work(): Work {
    const beganMs = this.#now();
    let isEnded = false;
    this.#begun += 1;
    return {
      isLong: () => this.#now() - beganMs >= TURN_MS / 2,
      end: () => {
        if (isEnded) return;
        isEnded = true;
        this.#begun -= 1;
        this.#spentMs += this.#now() - beganMs;
      },
    };
  }
}

function actAndEnd<T>(work: Work, act: () => T): T {
  try {
    return act();
  } finally {
    work.end();
  }
}

/** Work under way on the main thread. */
export interface Work {
  /** Whether it has taken half a turn, so that it should be ended and go on as other work. */
  isLong(): boolean;
  end(): void;
}
