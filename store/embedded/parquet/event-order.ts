const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/**
 * The numbers of events, from 0 to `count`, by the first key, then by the second, and so on; events that are the same by all of them stay
 * in their order. Sorts digit by digit, from the last one of the last key on, in time that grows with the events alone.
 */
export function orderBy(count: number, keys: readonly Uint32Array[]): Uint32Array {
  let order = new Uint32Array(count).map((_, event) => event);
  let other = new Uint32Array(count);
  for (const key of keys.toReversed()) {
    const [least, most] = bounds(key, count);
    for (let shift = 0; shift < 32 && (most - least) >>> shift > 0; shift += DIGIT_BITS) {
      sortByDigit(key, least, shift, order, other);
      [order, other] = [other, order];
    }
  }
  return order;
}

function bounds(key: Uint32Array, count: number): [least: number, most: number] {
  let [least, most] = [count === 0 ? 0 : 2 ** 32, 0];
  for (let event = 0; event < count; event += 1) {
    const value = key[event] as number;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return [least, most];
}

function sortByDigit(key: Uint32Array, least: number, shift: number, order: Uint32Array, sorted: Uint32Array): void {
  const ends = new Uint32Array(DIGITS + 1);
  const digitOf = (event: number) => (((key[event] as number) - least) >>> shift) & (DIGITS - 1);
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
