/**
 * JSON as the text that the program sent. A value is a part of that text, read one level at a time: every digit of a number, the order of
 * the members and repeated names stay, and nothing but what is looked at costs anything. Callers of the program send JSON that has to be
 * checked, with limits: `exact-json.ts` reads that.
 */
export interface JsonMember {
  /** The name of a member as it means, or null for an element of a list. */
  readonly name: string | null;
  /** The value's text, without blanks around it. */
  readonly text: string;
}

export type JsonKind = 'object' | 'list' | 'string' | 'number' | 'word';

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /[^ \t\n\r,\]}]+/y;
/** What opens, closes or hides brackets. */
const MARK = /["[\]{}]/g;

/** What a value is, by its first character. `word` is true, false or null. */
export function kindOf(text: string): JsonKind {
  const first = text[0] ?? '';
  if (first === '{') return 'object';
  if (first === '[') return 'list';
  if (first === '"') return 'string';
  return first === '-' || (first >= '0' && first <= '9') ? 'number' : 'word';
}

/**
 * The members of an object or the elements of a list, in the order of the text. Of other values: none. Only strings and brackets are
 * followed; throws SyntaxError where they do not end, and where a name is no string.
 */
export function membersOf(text: string): readonly JsonMember[] {
  const kind = kindOf(text);
  if (kind !== 'object' && kind !== 'list') return [];
  const members: JsonMember[] = [];
  let at = afterBlanks(text, 1);
  while (text[at] !== '}' && text[at] !== ']') {
    let name: string | null = null;
    if (kind === 'object') {
      const end = endOfString(text, at);
      name = JSON.parse(text.slice(at, end));
      at = afterBlanks(text, afterBlanks(text, end) + 1);
    }
    const end = endOfValue(text, at);
    members.push({ name, text: text.slice(at, end) });
    at = afterBlanks(text, end);
    if (text[at] === ',') at = afterBlanks(text, at + 1);
  }
  return members;
}

/** The text of a member, the last one where a name is repeated; undefined where there is none. */
export function memberText(text: string, name: string): string | undefined {
  return membersOf(text).findLast((member) => member.name === name)?.text;
}

/** Index behind the blanks that begin at `at`. */
function afterBlanks(text: string, at: number): number {
  BLANK.lastIndex = at;
  BLANK.test(text);
  return BLANK.lastIndex;
}

function endOfValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return endOfString(text, at);
  if (first === '{' || first === '[') return endOfNested(text, at);
  SCALAR.lastIndex = at;
  if (!SCALAR.test(text)) throw cutOff(at);
  return SCALAR.lastIndex;
}

/** Without recursion, because a log may be a megabyte of brackets. */
function endOfNested(text: string, at: number): number {
  let depth = 0;
  MARK.lastIndex = at;
  for (let found = MARK.exec(text); found !== null; found = MARK.exec(text)) {
    const [mark] = found;
    if (mark === '"') MARK.lastIndex = endOfString(text, found.index);
    else depth += mark === '{' || mark === '[' ? 1 : -1;
    if (depth === 0) return MARK.lastIndex;
  }
  throw cutOff(at);
}

function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
  throw cutOff(at);
}

function cutOff(at: number): SyntaxError {
  return new SyntaxError(`the JSON ends within the value that begins at character ${at + 1}`);
}
