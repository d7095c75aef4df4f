/** The engine's own search compares texts of this length at most six times at each place. */
const SHORT = 6;
/** The engine's own search takes some microseconds at most where text and needles multiply to this. */
const FEW_COMPARISONS = 4_096;
/** So many comparisons of the engine cost as much as a character that the automaton reads. */
const COMPARISONS_A_STEP = 8;
const FREE = -1;
/** 2^32 divided by the golden ratio, which spreads keys over a table (Knuth, The Art of Computer Programming, 6.4). */
const SPREAD = 0x9e3779b1;

/** Where a text has the first of some others, and what it costs to look. Both are folded already. */
export interface TextSearch {
  /** Returns the index behind the needle that ends first at or behind `from`, or -1; `from` counts UTF-16 units. */
  endOfFirst(text: string, from: number): number;
  /** The characters that are read at most, or as much work in other ways, where so many characters are left. */
  cost(characters: number): number;
}

/**
 * Looks for several texts at once in time that grows with the text alone: that of V8's `indexOf` grows with text and needle multiplied where both repeat themselves.
 * Throws RangeError where there is no needle, or an empty one.
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
 * The automaton of Aho and Corasick (Efficient string matching, CACM 18, 1975). State 0 has read nothing of any needle. The steps are in a hash table, because a table of all states and
 * characters would take megabytes for the longest requests.
 */
interface Automaton {
  /** State and character of each step, as `stepKey` has them; FREE where there is none. */
  readonly keys: Float64Array;
  readonly targets: Uint32Array;
  /** The state of the longest other beginning of a needle that ends at the same place. */
  readonly fallbacks: Uint32Array;
  /** 1 where a needle ends. */
  readonly ends: Uint8Array;
}

function stepKey(state: number, unit: number): number {
  return state * 0x1_0000 + unit;
}

/** The slot of a step, or the free one where it would be. */
function slotOf(keys: Float64Array, state: number, unit: number): number {
  const mask = keys.length - 1;
  const key = stepKey(state, unit);
  let slot = (Math.imul(state, SPREAD) ^ Math.imul(unit, 0x85ebca6b)) & mask;
  while (keys[slot] !== key && keys[slot] !== FREE) slot = (slot + 1) & mask;
  return slot;
}

function buildAutomaton(needles: readonly string[], total: number): Automaton {
  const size = 2 ** Math.ceil(Math.log2(2 * total + 2));
  const keys = new Float64Array(size).fill(FREE);
  const targets = new Uint32Array(size);
  const fallbacks = new Uint32Array(total + 1);
  const ends = new Uint8Array(total + 1);
  const parents: number[] = [0];
  const units: number[] = [0];
  const depths: number[] = [0];
  for (const needle of needles) {
    let state = 0;
    for (let at = 0; at < needle.length; at += 1) {
      const unit = needle.charCodeAt(at);
      const slot = slotOf(keys, state, unit);
      if (keys[slot] === FREE) {
        keys[slot] = stepKey(state, unit);
        targets[slot] = parents.length;
        parents.push(state);
        units.push(unit);
        depths.push(at + 1);
      }
      state = targets[slot] as number;
    }
    ends[state] = 1;
  }
  const automaton = { keys, targets, fallbacks, ends };
  // Shorter beginnings first, because the fallback of each is made from those of its parent.
  const states = depths.map((_, state) => state).sort((a, b) => (depths[a] as number) - (depths[b] as number));
  for (const state of states.slice(1)) {
    const parent = parents[state] as number;
    if (parent !== 0) fallbacks[state] = step(automaton, fallbacks[parent] as number, units[state] as number);
    if (ends[fallbacks[state] as number] === 1) ends[state] = 1;
  }
  return automaton;
}

function step({ keys, targets, fallbacks }: Automaton, from: number, unit: number): number {
  for (let state = from; ; state = fallbacks[state] as number) {
    const slot = slotOf(keys, state, unit);
    if (keys[slot] !== FREE) return targets[slot] as number;
    if (state === 0) return 0;
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
