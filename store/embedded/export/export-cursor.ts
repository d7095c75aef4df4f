import type { SearchPlan, TimeWindow } from '../../../query/plan/search-plan.ts';
import { PIECE_BYTES } from '../../event-store.ts';
import type { CountedRange } from '../search/page-location.ts';
import { countBySlot } from '../search/page-location.ts';
import { type ReadRows, RowCursor } from '../search/row-pieces.ts';
import { type ScopeSource, SearchScope } from '../search/search-scope.ts';

/** The most rows of a piece. They keep a core busy for some tens of milliseconds. */
const MAX_ROWS = 4_096;

/** The first piece is small, because a client waits for it, and the size of the events is not known yet. */
const FIRST_ROWS = 1_024;

/** Reads the matching events of a snapshot piece by piece: each call of `next` reads the following one. */
export class ExportCursor {
  readonly #plan: SearchPlan;
  readonly #source: Pick<ScopeSource, 'snapshot' | 'aliases'>;
  /** The disjoint ranges still to come. The newest, which comes next, is the last. Undefined until they are counted. */
  #ahead: CountedRange[] | undefined;
  /** The window that is being read; undefined before the first, and where none is to be read on. */
  #window: RowCursor | undefined;
  #rows = FIRST_ROWS;

  constructor(plan: SearchPlan, source: Pick<ScopeSource, 'snapshot' | 'aliases'>) {
    this.#plan = plan;
    this.#source = source;
  }

  /** Reads the next rows in the order of answers (`sql/row-statements.ts`); undefined where there are none. Calls must not overlap. */
  async next(reading: Omit<ScopeSource, 'snapshot' | 'aliases'>): Promise<ReadRows | undefined> {
    const isFirst = this.#ahead === undefined;
    try {
      const scope = await SearchScope.open(this.#plan, { ...this.#source, ...reading });
      if (this.#window === undefined || this.#window.left === 0) {
        this.#window = await this.#nextWindow(scope);
      }
      return this.#window && (await this.#readPiece(scope, this.#window));
    } catch (error) {
      // The next call may find fewer segments whole.
      if (isFirst) {
        this.#ahead = undefined;
        this.#window = undefined;
      }
      throw error;
    }
  }

  /** Takes as many of the newest ranges as make a piece. A range with more rows is divided first, down to a millisecond. */
  async #nextWindow(scope: SearchScope): Promise<RowCursor | undefined> {
    this.#ahead ??= await countInOrder(scope, this.#plan.window);
    const ahead = this.#ahead;
    for (let newest = ahead.at(-1); newest !== undefined && isDivisible(newest); newest = ahead.at(-1)) {
      ahead.pop();
      ahead.push(...(await countInOrder(scope, newest)));
    }
    const newest = ahead.pop();
    if (newest === undefined) {
      return undefined;
    }
    let { fromMs, events } = newest;
    for (let older = ahead.at(-1); older !== undefined && events + older.events <= MAX_ROWS; older = ahead.at(-1)) {
      ahead.pop();
      fromMs = older.fromMs;
      events += older.events;
    }
    return new RowCursor({ fromMs, toMs: newest.toMs }, 0, events);
  }

  async #readPiece(scope: SearchScope, window: RowCursor): Promise<ReadRows> {
    const piece = await window.next(scope, this.#rows, this.#ahead?.length === 0);
    // Half of the rows that would just fit, because the next events may be larger.
    const fitting = Math.floor((PIECE_BYTES * piece.length) / (2 * piece.bytes));
    this.#rows = Math.max(1, Math.min(MAX_ROWS, this.#rows * 2, fitting));
    return piece;
  }
}

function isDivisible({ fromMs, toMs, events }: CountedRange): boolean {
  return events > MAX_ROWS && toMs - fromMs > 1;
}

/** The ranges of the window that have events, the newest last. */
async function countInOrder(scope: SearchScope, window: TimeWindow): Promise<CountedRange[]> {
  return (await countBySlot(scope, window)).sort((a, b) => a.fromMs - b.fromMs);
}
