/** The engine's own search compares texts of this length at most six times at each place. */
const SHORT = 6;
/** The engine's own search takes some microseconds at most where text and needles multiply to this. */
const FEW_COMPARISONS = 4_096;
/** So many comparisons of the engine cost as much as a character that the automaton reads. */
const COMPARISONS_A_STEP = 8;

/** Where a text has the first of some others, and what it costs to look. Both are folded already. */
export interface TextSearch {
  /** Returns the index behind the needle that ends first at or behind `from`, or -1; `from` counts UTF-16 units. */
  endOfFirst(text: string, from: number): number;
  /** The characters that are read at most, or as much work in other ways, where so many characters are left. */
  cost(characters: number): number;
}

/**
 * Looks for several texts at once in time that grows with the text alone: that of V8's `indexOf` grows with text and needle multiplied
 * where both repeat themselves. Throws RangeError where there is no needle, or an empty one.
 */
export function textSearch(needles: readonly string[]): TextSearch {
  if (needles.length === 0 || needles.includes('')) throw new RangeError('needles must be one or more texts that are not empty');
  const total = needles.reduce((sum, needle) => sum + needle.length, 0);
  const [only = ''] = needles;
  const isShort = needles.length === 1 && only.length <= SHORT;
  const isQuick = (characters: number): boolean => isShort || characters * total <= FEW_COMPARISONS;
  let automaton: ReturnType<typeof buildAutomaton> | undefined;
  return {
    cost: (characters) => (isQuick(characters) ? Math.ceil((characters * total) / COMPARISONS_A_STEP) : characters),
    endOfFirst(text, from) {
      if (isQuick(text.length - from)) return endByEngine(needles, text, from);
      automaton ??= buildAutomaton(needles, total);
      return endByAutomaton(automaton, text, from);
    },
  };
}

function endByEngine(needles: readonly string[], text: string, from: number): number {
  let end = -1;
  for (const needle of needles) {
    const found = text.indexOf(needle, from);
    if (found !== -1 && (end === -1 || found + needle.length < end)) end = found + needle.length;
  }
  return end;
}

/**
 * The automaton of Aho and Corasick (Efficient string matching, CACM 18, 1975). State 0 has read nothing of any needle. States are numbered
 * by the length of what they have read, so that the steps of a state lead to neighbours, in the order of their characters: a step is found
 * by halving, which no choice of characters makes slow, as it would a hash table.
 */
interface Automaton {
  /** The character that leads to each state. */
  readonly units: Uint16Array;
  /** The first state that a step of each leads to; those of the next state begin where they end. */
  readonly firstTargets: Uint32Array;
  /** The state of the longest other beginning of a needle that ends at the same place. */
  readonly fallbacks: Uint32Array;
  /** 1 where a needle ends. */
  readonly ends: Uint8Array;
}

function buildAutomaton(needles: readonly string[], total: number): Automaton {
  const sorted = [...needles].sort();
  const units = new Uint16Array(total + 1);
  const firstTargets = new Uint32Array(total + 2);
  const fallbacks = new Uint32Array(total + 1);
  const ends = new Uint8Array(total + 1);
  const automaton = { units, firstTargets, fallbacks, ends };
  // Of each state: the sorted needles that begin with what it has read, their beginning's length, and the state before.
  const states = [{ low: 0, high: sorted.length, length: 0, parent: 0 }];
  for (let state = 0; state < states.length; state += 1) {
    const { low, high, length } = states[state] as (typeof states)[number];
    firstTargets[state] = states.length;
    let at = low;
    while (at < high && (sorted[at] as string).length === length) {
      ends[state] = 1;
      at += 1;
    }
    while (at < high) {
      const unit = (sorted[at] as string).charCodeAt(length);
      const first = at;
      while (at < high && (sorted[at] as string).charCodeAt(length) === unit) at += 1;
      units[states.length] = unit;
      states.push({ low: first, high: at, length: length + 1, parent: state });
    }
  }
  firstTargets[states.length] = states.length;
  // Shorter beginnings first, because the fallback of each is made from those of its parent.
  for (let state = 1; state < states.length; state += 1) {
    const { parent } = states[state] as (typeof states)[number];
    if (parent !== 0) fallbacks[state] = step(automaton, fallbacks[parent] as number, units[state] as number);
    if (ends[fallbacks[state] as number] === 1) ends[state] = 1;
  }
  return automaton;
}

/** The state that a character leads to from another; 0, to which no step leads, where there is none. */
function targetOf({ units, firstTargets }: Automaton, state: number, unit: number): number {
  let low = firstTargets[state] as number;
  const end = firstTargets[state + 1] as number;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((units[middle] as number) < unit) low = middle + 1;
    else high = middle;
  }
  return low < end && units[low] === unit ? low : 0;
}

function step(automaton: Automaton, from: number, unit: number): number {
  for (let state = from; ; state = automaton.fallbacks[state] as number) {
    const target = targetOf(automaton, state, unit);
    if (target !== 0 || state === 0) return target;
  }
}

function endByAutomaton(automaton: Automaton, text: string, from: number): number {
  let state = 0;
  for (let at = from; at < text.length; at += 1) {
    state = step(automaton, state, text.charCodeAt(at));
    if (automaton.ends[state] === 1) return at + 1;
  }
  return -1;
}
