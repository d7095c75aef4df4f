import { Heap } from './heap.ts';

/** So many windows of groups, and values that are remembered, all rules together count. */
export const MAX_ENTRIES = 500_000;
/** Bytes that these may have, with the values that are counted in them. */
export const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

/** A window that can be given up. */
export interface GivenUpWindow {
  readonly beginMs: number;
  /** The name of its rule. */
  readonly rule: string;
  readonly isGone: boolean;
  /** Closes it, or where it is the only one and has several groups gives up the half with the lowest counts. */
  giveUp(isOnlyOne: boolean): void;
}

/** What the budget is shared by. */
export interface BudgetMember {
  /** Lets it be a time, so that it gives back what is due by then. */
  advanceTo(timeMs: number): void;
}

/** Bounds what all rules together keep. When it is full, the oldest window of all is given up. */
export class EntryBudget {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** Those that are gone are taken out when they come first. */
  readonly #windows = new Heap<GivenUpWindow>((one, other) =>
    one.beginMs === other.beginMs ? one.rule < other.rule : one.beginMs < other.beginMs,
  );
  readonly #members: BudgetMember[] = [];
  #open = 0;
  #entries = 0;
  #bytes = 0;

  constructor({ entries = MAX_ENTRIES, bytes = MAX_ENTRY_BYTES } = {}) {
    this.#maxEntries = entries;
    this.#maxBytes = bytes;
  }

  get isFull(): boolean {
    return this.#entries >= this.#maxEntries || this.#bytes >= this.#maxBytes;
  }

  add(member: BudgetMember): void {
    this.#members.push(member);
  }

  /** Takes entries and bytes, or gives them back where the numbers are negative. */
  take(entries: number, bytes: number): void {
    this.#entries += entries;
    this.#bytes += bytes;
  }

  addWindow(window: GivenUpWindow): void {
    this.#windows.add(window);
    this.#open += 1;
  }

  /** A window is gone, and has said so by its `isGone`. */
  removeWindow(): void {
    this.#open -= 1;
    this.#oldest();
  }

  /** Makes room for what an event brings that came in at a time, of which all members know then, so that pages make no difference. */
  makeRoom(timeMs: number): void {
    if (!this.isFull) return;
    for (const member of this.#members) member.advanceTo(timeMs);
    for (let oldest = this.#oldest(); this.isFull && oldest !== undefined; oldest = this.#oldest()) oldest.giveUp(this.#open === 1);
  }

  #oldest(): GivenUpWindow | undefined {
    while (this.#windows.first?.isGone === true) this.#windows.removeFirst();
    return this.#windows.first;
  }
}
