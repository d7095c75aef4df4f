/** A power of two. */
const MIN_SLOTS = 64;

/** A set of whole numbers from 0 to 2^53 - 1 that are as good as chance, eleven bytes to each. */
export class DedupKeySet {
  /** A number lies at the place that its lowest bits name, or at the next free one. 0 is free. */
  #slots = new Float64Array(MIN_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** False where it is in the set already. */
  add(dedupKey: number): boolean {
    const number = nonZero(dedupKey);
    const index = this.#find(number);
    if (this.#slots[index] !== 0) {
      return false;
    }
    this.#slots[index] = number;
    this.#size += 1;
    if (this.#size * 4 > this.#slots.length * 3) {
      this.#grow();
    }
    return true;
  }

  #find(number: number): number {
    const last = this.#slots.length - 1;
    let index = number & last;
    for (let found = this.#slots[index]; found !== 0 && found !== number; found = this.#slots[index]) {
      index = (index + 1) & last;
    }
    return index;
  }

  #grow(): void {
    const numbers = this.#slots;
    this.#slots = new Float64Array(numbers.length * 2);
    for (const number of numbers) {
      if (number !== 0) {
        this.#slots[this.#find(number)] = number;
      }
    }
  }
}

/** One in 2^53 becomes another: two events are not the same for having the same number, but are looked at. */
function nonZero(dedupKey: number): number {
  return dedupKey === 0 ? 1 : dedupKey;
}
