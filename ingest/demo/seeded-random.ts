/** Pseudo-random choices, which are the same for the same seed. */
export interface Random {
  /** An integer in [0, limit). */
  below(limit: number): number;
  /** True with a probability of `percent` in 100. */
  chance(percent: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** Mulberry32, a generator with 32 bits of state. Any integers make a seed. */
export function seededRandom(...seeds: readonly number[]): Random {
  let state = seeds.reduce((mixed, seed) => scramble(Math.imul(mixed ^ seed, 0x9e3779b1)), 0x2545f491);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (percent) => next() * 100 < percent,
    pick: <T>(choices: readonly T[]) => choices[below(choices.length)] as T,
  };
}

function scramble(word: number): number {
  const mixed = Math.imul(word ^ (word >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
}
