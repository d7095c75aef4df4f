import type { Refusal } from './refusal.ts';

/** What goes wrong at a server. */
export type Fault = FaultKind & {
  /** A regular expression for the statements that it happens to; without one, it happens to all. */
  readonly matching?: string;
  /** How many statements it happens to; without a number, it stays until it is taken away. */
  readonly times?: number;
};

type FaultKind =
  /** The statement is not run, and answered with this error. */
  | ({ readonly kind: 'refuse' } & Refusal)
  /** The statement is not run, and answered with this text. */
  | { readonly kind: 'answer'; readonly text: string }
  /**
   * An INSERT through input() stores only the rows that meet this condition, and is answered with this error, as where a server fails
   * between the parts of one INSERT.
   */
  | ({ readonly kind: 'store-part'; readonly where: string } & Refusal)
  /** The connection is cut before the statement is run. */
  | { readonly kind: 'cut-before' }
  /** The connection is cut, and a statement with this query id runs until the fault is released. The statement itself is not run. */
  | { readonly kind: 'cut-during' }
  /** The statement is run, and its answer is lost. */
  | { readonly kind: 'cut-after' }
  /** The connection is cut behind this many bytes of the answer. */
  | { readonly kind: 'cut-answer'; readonly afterBytes: number }
  /** The answer fails with this error behind this many bytes. */
  | ({ readonly kind: 'fail-answer'; readonly afterBytes: number } & Refusal)
  /**
   * The statement waits until it is released: before it is run; inside, where an INSERT with data runs and has not got its data yet, so
   * that system.processes shows it; or after it was run, with its answer.
   */
  | { readonly kind: 'hold'; readonly at: 'before' | 'inside' | 'after' }
  /** An INSERT is run and answered, and system.processes goes on to list it until it is released. */
  | { readonly kind: 'list-on' };

interface Held {
  readonly fault: number;
  readonly statement: string;
  readonly release: () => void;
}

interface Waiting {
  readonly fault: number;
  readonly count: number;
  readonly resolve: (statements: readonly string[]) => void;
}

/** The faults that are switched on at a server, and the statements that they hold. */
export class FaultList {
  readonly #faults = new Map<number, { readonly fault: Fault; left: number }>();
  readonly #held = new Set<Held>();
  readonly #waiting = new Set<Waiting>();
  #last = 0;

  /** Switches a fault on; gives its number. */
  add(fault: Fault): number {
    this.#last++;
    this.#faults.set(this.#last, { fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    return this.#last;
  }

  /** The first fault that happens to this statement. It counts as one time. */
  take(statement: string): { readonly id: number; readonly fault: Fault } | undefined {
    for (const [id, entry] of this.#faults) {
      if (entry.left === 0 || (entry.fault.matching !== undefined && !new RegExp(entry.fault.matching).test(statement))) continue;
      entry.left--;
      return { id, fault: entry.fault };
    }
    return undefined;
  }

  /** Resolves once the fault has been released. */
  hold(fault: number, statement: string): Promise<void> {
    return new Promise((resolve) => {
      this.#held.add({ fault, statement, release: resolve });
      this.#tell();
    });
  }

  /** The statements that a fault holds, once there are this many. */
  held(fault: number, count: number): Promise<readonly string[]> {
    return new Promise((resolve) => {
      this.#waiting.add({ fault, count, resolve });
      this.#tell();
    });
  }

  /** Switches a fault off, and lets go what it holds; without a number, all of them. */
  release(fault?: number): void {
    for (const id of fault === undefined ? [...this.#faults.keys()] : [fault]) this.#faults.delete(id);
    for (const held of this.#held) {
      if (fault !== undefined && held.fault !== fault) continue;
      this.#held.delete(held);
      held.release();
    }
  }

  #tell(): void {
    for (const waiting of this.#waiting) {
      const statements = [...this.#held].filter(({ fault }) => fault === waiting.fault).map(({ statement }) => statement);
      if (statements.length < waiting.count) continue;
      this.#waiting.delete(waiting);
      waiting.resolve(statements);
    }
  }
}
