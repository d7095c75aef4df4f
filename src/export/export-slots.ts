import { RequestProblem } from '../http/problem.ts';

/** Each takes a part of the processor and of the memory for as long as its client reads. */
export const EXPORTS_AT_ONCE = 4;

/** Counts the exports that are under way. */
export class ExportSlots {
  #taken = 0;

  get taken(): number {
    return this.#taken;
  }

  /** Takes one and returns how to give it back. Throws RequestProblem `store.busy` where all are taken. */
  take(): () => void {
    if (this.#taken >= EXPORTS_AT_ONCE) {
      const detail = `${this.#taken} exports are under way; allowed: at most ${EXPORTS_AT_ONCE} at once`;
      throw new RequestProblem('store.busy', detail, { headers: { 'retry-after': '10' } });
    }
    this.#taken += 1;
    let given = false;
    return () => {
      if (!given) this.#taken -= 1;
      given = true;
    };
  }
}
