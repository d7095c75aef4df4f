import type { SeededRandom } from './seeded-random.ts';

const SLOTS = 1 << 18;

/** Picks from 0 to `size` - 1 by Zipf's law: the nth is 1/n as likely as the first. Made once, then one look-up a pick. */
export function skewedChoice(size: number): (random: SeededRandom) => number {
  let harmonic = 0;
  for (let rank = 1; rank <= size; rank += 1) {
    harmonic += 1 / rank;
  }
  const slots = new Uint32Array(SLOTS);
  let [rank, reached] = [1, 1 / harmonic];
  for (let slot = 0; slot < SLOTS; slot += 1) {
    while ((slot + 0.5) / SLOTS > reached && rank < size) {
      rank += 1;
      reached += 1 / (rank * harmonic);
    }
    slots[slot] = rank - 1;
  }
  return (random) => slots[random.uint32() & (SLOTS - 1)] ?? 0;
}
