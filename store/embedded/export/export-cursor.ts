import type { SearchPlan } from '../../../query/plan/search-plan.ts';
import { type CountedRange, MOST_ROWS_AT_ONCE, newestLast, takeNewest } from '../../counted-ranges.ts';
import { PIECE_BYTES } from '../../event-store.ts';
import { countBySlot } from '../search/page-location.ts';
import { type ReadRows, RowCursor } from '../search/row-pieces.ts';
import { type ScopeSource, SearchScope } from '../search/search-scope.ts';

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

  async #nextWindow(scope: SearchScope): Promise<RowCursor | undefined> {
    this.#ahead ??= newestLast(await countBySlot(scope, this.#plan.window));
    const window = await takeNewest(this.#ahead, (newest) => countBySlot(scope, newest));
    return window && new RowCursor(window, 0, window.events);
  }

  async #readPiece(scope: SearchScope, window: RowCursor): Promise<ReadRows> {
    const piece = await window.next(scope, this.#rows, this.#ahead?.length === 0);
    // Half of the rows that would just fit, because the next events may be larger.
    const fitting = Math.floor((PIECE_BYTES * piece.length) / (2 * piece.bytes));
    this.#rows = Math.max(1, Math.min(MOST_ROWS_AT_ONCE, this.#rows * 2, fitting));
    return piece;
  }
}
