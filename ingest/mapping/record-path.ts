import { kindOf, membersOf } from '../../query/json-text.ts';
import { JsonNumber } from '../../query/json-value.ts';

/**
 * One step of a path. `key` goes into the member of an object whose name is that in any case, `index` to an item of a list. The others go
 * to the first item of a list that has the rest of the path: `each` to any, `item` to one whose text at `path` is one of `texts`, or is
 * none of them.
 */
export type PathStep =
  | { readonly kind: 'key'; readonly key: string; readonly folded: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'each' }
  | { readonly kind: 'item'; readonly path: readonly PathStep[]; readonly isNot: boolean; readonly texts: ReadonlySet<string> };

export interface RecordPath {
  /** As it is written. */
  readonly text: string;
  readonly steps: readonly PathStep[];
}

/** Steps of a path. Each is a call inside the one before. */
export const MOST_STEPS = 100;
/** What a path has to look like, for messages. */
export const PATH_FORM =
  `keys with points between them, and [0], [*], [name=a,b] or [id!=a,b] behind one, ${MOST_STEPS} at most; ` +
  'a key with a sign in double quotes';

/** A key in double quotes, a bracket, or a key without signs. */
const STEP = /"([^"]+)"|\[([^\]]*)\]|([^.[\]"{}\s]+)/y;
const ITEM = /^([^=!\]]+?)(!?)=(.+)$/;
const NOTHING: RecordPath = { text: '', steps: [] };

/** Reads a path; null where the text is none. */
export function parsePath(text: string): RecordPath | null {
  const steps: PathStep[] = [];
  let at = 0;
  while (at < text.length) {
    STEP.lastIndex = at;
    const [whole, quoted, bracket, bare] = STEP.exec(text) ?? [];
    const key = quoted ?? bare;
    const step = key !== undefined ? keyStep(key) : bracket !== undefined && steps.length > 0 ? bracketStep(bracket) : null;
    if (whole === undefined || step === null) {
      return null;
    }
    steps.push(step);
    at += whole.length;
    // A point stands before each key but the first, and nowhere else.
    if (text[at] === '.' && at + 1 < text.length && text[at + 1] !== '[' && text[at + 1] !== '.') at += 1;
    else if (at < text.length && text[at] !== '[') return null;
  }
  return steps.length === 0 || steps.length > MOST_STEPS ? null : { text, steps };
}

function keyStep(key: string): PathStep {
  return { kind: 'key', key, folded: key.toLowerCase() };
}

function bracketStep(text: string): PathStep | null {
  if (text === '*') {
    return { kind: 'each' };
  }
  if (/^\d{1,6}$/.test(text)) {
    return { kind: 'index', index: Number(text) };
  }
  const [, name = '', not, values = ''] = ITEM.exec(text) ?? [];
  const path = parsePath(name) ?? NOTHING;
  const texts = new Set(values.split(',').map((value) => value.trim().toLowerCase()));
  return path.steps.length === 0 ? null : { kind: 'item', path: path.steps, isNot: not === '!', texts };
}

/** Whether a value is an object of a record, which has members. */
export function isRecordObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** Returns what a record has at a path; undefined where that is absent. */
export type PathFinder = (record: unknown) => unknown;

/**
 * Makes a function of a path. `isAbsent` says what is absent at its end. Where the path goes through items of a list, the first one counts
 * in which the rest of the path is not absent.
 */
export function pathFinder(steps: readonly PathStep[], isAbsent: (value: unknown) => boolean): PathFinder {
  return steps.reduceRight<PathFinder>(
    (rest, step) => stepFinder(step, rest),
    (found) => (isAbsent(found) ? undefined : found),
  );
}

function stepFinder(step: PathStep, rest: PathFinder): PathFinder {
  switch (step.kind) {
    case 'key': {
      const memberOf = memberFinder(step);
      return (value) => {
        const found = isRecordObject(value) ? memberOf(value) : undefined;
        return found === undefined ? undefined : rest(found);
      };
    }
    case 'index':
      return (value) => (Array.isArray(value) && step.index < value.length ? rest(value[step.index]) : undefined);
    case 'each':
    case 'item': {
      const isChosen = step.kind === 'each' ? null : itemChooser(step);
      return (value) => {
        for (const item of Array.isArray(value) ? value : []) {
          const found = isChosen === null || isChosen(item) ? rest(item) : undefined;
          if (found !== undefined) return found;
        }
        return undefined;
      };
    }
  }
}

const NEVER = (): boolean => false;

function itemChooser({ path, isNot, texts }: Extract<PathStep, { kind: 'item' }>): (item: unknown) => boolean {
  const find = pathFinder(path, NEVER);
  const isIn = foldedIn(texts);
  return (item) => {
    const text = comparedText(find(item));
    return (text !== null && isIn(text)) !== isNot;
  };
}

/** The member with the name, or else the first one that has it in another case. */
function memberFinder({ key, folded }: Extract<PathStep, { kind: 'key' }>): (object: Readonly<Record<string, unknown>>) => unknown {
  // What every object of JavaScript has is no member of a record.
  const isOfAll = key in {};
  return (object) => {
    const found = isOfAll && !Object.hasOwn(object, key) ? undefined : object[key];
    if (found !== undefined) {
      return found;
    }
    for (const name in object) {
      if (name.length === key.length && name.toLowerCase() === folded) return object[name];
    }
    return undefined;
  };
}

/** Whether a text is in any case one of these, which are in lower case. */
export function foldedIn(texts: ReadonlySet<string>): (text: string) => boolean {
  // No text becomes shorter in lower case.
  const longest = [...texts].reduce((most, { length }) => Math.max(most, length), 0);
  return (text) => text.length <= longest && texts.has(text.toLowerCase());
}

/** A number of so many digits and signs is written by JavaScript as it was read. */
export const EXACT_LENGTH = 15;

/** Whether JavaScript writes a number as a record does, but for zeros and exponents. */
export function hasItsDigits(number: number): boolean {
  const size = Math.abs(number);
  return Number.isSafeInteger(number) || (size >= 1e-6 && size < 1e15 && String(number).length <= EXACT_LENGTH);
}

/** The text of a text, a number or a boolean; null for any other value. */
export function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** The same for a comparison, where `2.0` is `2`. */
export function comparedText(value: unknown): string | null {
  const number = value instanceof JsonNumber ? Number(value.source) : undefined;
  return number !== undefined && hasItsDigits(number) ? String(number) : scalarText(value);
}

/**
 * The JSON texts of the items of the list that the path names, as they are written in a JSON text, or the one text that it names; null
 * where there is neither. `[*]` stands for every item here, so that the items of a path that has one are what stands behind it.
 */
export function itemTexts(text: string, steps: readonly PathStep[]): readonly string[] | null {
  let found: readonly string[] = [text];
  for (const step of steps) found = found.flatMap((value) => textsBehind(value, step));
  if (steps.some(({ kind }) => kind === 'each')) {
    return found.length === 0 ? null : found;
  }
  const [one] = found;
  if (one === undefined) {
    return null;
  }
  const kind = kindOf(one);
  return kind === 'list' ? membersOf(one).map((item) => item.text) : kind === 'string' ? [one] : null;
}

function textsBehind(text: string, step: PathStep): readonly string[] {
  const isObject = kindOf(text) === 'object';
  if (isObject !== (step.kind === 'key')) {
    return [];
  }
  const members = membersOf(text);
  switch (step.kind) {
    case 'key': {
      const named = members.findLast(({ name }) => name === step.key) ?? members.find(({ name }) => name?.toLowerCase() === step.folded);
      return named === undefined ? [] : [named.text];
    }
    case 'index':
      return members.slice(step.index, step.index + 1).map((item) => item.text);
    default:
      return members.map((item) => item.text);
  }
}
