/** Length of a needle that `indexOf` compares with at most six characters at each index. */
const SHORT_NEEDLE = 6;
/** `indexOf` takes a few microseconds at most if the lengths of text and needles multiply to this. */
const FEW_COMPARISONS = 4_096;
/** Comparisons of `indexOf` that cost as much as one character that the automaton reads. */
const COMPARISONS_PER_STEP = 8;

/** A search for the first of some needles. Texts and needles are folded. */
export interface TextSearch {
  /** The end of the needle that ends first at or after `from`, or -1. Indexes count UTF-16 units. */
  endOfFirst(text: string, from: number): number;
  /** The highest cost of a search through this many characters, in characters that are read. */
  cost(characters: number): number;
}

/**
 * Searches for several texts at once in time that grows with the length of the text only. The time of V8's `indexOf` grows with the product
 * of both lengths if text and needle are repetitive. Throws RangeError if there is no needle or an empty one.
 */
export function textSearch(needles: readonly string[]): TextSearch {
  if (needles.length === 0 || needles.includes('')) throw new RangeError('needles must be one or more texts that are not empty');
  const total = needles.reduce((sum, needle) => sum + needle.length, 0);
  const [only = ''] = needles;
  const isShort = needles.length === 1 && only.length <= SHORT_NEEDLE;
  const usesIndexOf = (characters: number): boolean => isShort || characters * total <= FEW_COMPARISONS;
  let automaton: ReturnType<typeof buildAutomaton> | undefined;
  return {
    cost: (characters) => (usesIndexOf(characters) ? Math.ceil((characters * total) / COMPARISONS_PER_STEP) : characters),
    endOfFirst(text, from) {
      if (usesIndexOf(text.length - from)) return endByIndexOf(needles, text, from);
      automaton ??= buildAutomaton(needles, total);
      return endByAutomaton(automaton, text, from);
    },
  };
}

function endByIndexOf(needles: readonly string[], text: string, from: number): number {
  let end = -1;
  for (const needle of needles) {
    const found = text.indexOf(needle, from);
    if (found !== -1 && (end === -1 || found + needle.length < end)) end = found + needle.length;
  }
  return end;
}

/**
 * The automaton of Aho and Corasick (Efficient string matching, CACM 18, 1975). A state stands for a prefix of a needle, state 0 for the
 * empty one. States are numbered by the length of the prefix, so that the targets of a state are adjacent and sorted by character. A target
 * is found by binary search, which no choice of characters slows down as it would a hash table.
 */
interface Automaton {
  /** The character that leads to each state. */
  readonly units: Uint16Array;
  /** The first target of each state. Its last target comes before the first of the next state. */
  readonly firstTargets: Uint32Array;
  /** The state of the longest shorter prefix of a needle that is a suffix of this state's prefix. */
  readonly fallbacks: Uint32Array;
  /** 1 if a needle ends in the state. */
  readonly ends: Uint8Array;
}

function buildAutomaton(needles: readonly string[], total: number): Automaton {
  const sorted = [...needles].sort();
  const units = new Uint16Array(total + 1);
  const firstTargets = new Uint32Array(total + 2);
  const fallbacks = new Uint32Array(total + 1);
  const ends = new Uint8Array(total + 1);
  const automaton = { units, firstTargets, fallbacks, ends };
  // Each state has the range of the sorted needles with its prefix, the length of the prefix and the state before it.
  const states = [{ low: 0, high: sorted.length, length: 0, parent: 0 }];
  for (let state = 0; state < states.length; state += 1) {
    const { low, high, length } = states[state] as (typeof states)[number];
    firstTargets[state] = states.length;
    let needle = low;
    while (needle < high && (sorted[needle] as string).length === length) {
      ends[state] = 1;
      needle += 1;
    }
    while (needle < high) {
      const unit = (sorted[needle] as string).charCodeAt(length);
      const first = needle;
      while (needle < high && (sorted[needle] as string).charCodeAt(length) === unit) needle += 1;
      units[states.length] = unit;
      states.push({ low: first, high: needle, length: length + 1, parent: state });
    }
  }
  firstTargets[states.length] = states.length;
  // Shorter prefixes come first, because a fallback is computed from those of the parent.
  for (let state = 1; state < states.length; state += 1) {
    const { parent } = states[state] as (typeof states)[number];
    if (parent !== 0) fallbacks[state] = step(automaton, fallbacks[parent] as number, units[state] as number);
    if (ends[fallbacks[state] as number] === 1) ends[state] = 1;
  }
  return automaton;
}

/** The target of a state for a character, or 0 if there is none; no step leads to state 0. */
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
