const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/**
 * Returns the numbers of the events, from 0 to `count`, ordered by the first key, then by the second, and so on. The sort is stable. It is
 * a radix sort from the last digit of the last key on, in linear time.
 */
export function orderBy(count: number, keys: readonly Uint32Array[]): Uint32Array {
  let order = new Uint32Array(count).map((_, event) => event);
  let other = new Uint32Array(count);
  for (const key of keys.toReversed()) {
    const [min, max] = bounds(key, count);
    for (let shift = 0; shift < 32 && (max - min) >>> shift > 0; shift += DIGIT_BITS) {
      sortByDigit(key, min, shift, order, other);
      [order, other] = [other, order];
    }
  }
  return order;
}

function bounds(key: Uint32Array, count: number): [min: number, max: number] {
  let [min, max] = [count === 0 ? 0 : 2 ** 32, 0];
  for (let event = 0; event < count; event += 1) {
    const value = key[event] as number;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return [min, max];
}

function sortByDigit(key: Uint32Array, min: number, shift: number, order: Uint32Array, sorted: Uint32Array): void {
  const ends = new Uint32Array(DIGITS + 1);
  const digitOf = (event: number) => (((key[event] as number) - min) >>> shift) & (DIGITS - 1);
  for (let event = 0; event < order.length; event += 1) {
    const next = digitOf(event) + 1;
    ends[next] = (ends[next] as number) + 1;
  }
  for (let digit = 1; digit < DIGITS; digit += 1) {
    ends[digit] = (ends[digit] as number) + (ends[digit - 1] as number);
  }
  for (let row = 0; row < order.length; row += 1) {
    const event = order[row] as number;
    const digit = digitOf(event);
    const index = ends[digit] as number;
    sorted[index] = event;
    ends[digit] = index + 1;
  }
}
