import { type JsonKind, kindOf, membersOf } from '../../query/json-text.ts';
import { numberOf } from '../widgets/format.ts';

/** A line of the tree: one value of the log. */
export interface TreeLine {
  /** Names the value among those of the log, as the indexes of its members from the top: `2/0/5`. */
  readonly path: string;
  /** 1 for the members of the log. */
  readonly level: number;
  /** The member's name, or the element's index. */
  readonly label: string;
  readonly kind: JsonKind;
  /** What is shown: a scalar's text with all digits, a string as it means, or how much an object or a list holds. */
  readonly shown: string;
  /** The value's text, for copying. */
  readonly text: string;
  /** Null for a value that has no members. */
  readonly isOpen: boolean | null;
  /** Place among its siblings, from 1, and their number. */
  readonly place: number;
  readonly siblings: number;
  /** Not null for the line that shows more siblings when it is chosen: how many there are beyond those shown. */
  readonly more: number | null;
}

/** Which values are open, and how many members of each are shown. Absent: `isOpenAtFirst`, and `MEMBERS_AT_FIRST`. */
export interface TreeState {
  readonly open: ReadonlyMap<string, boolean>;
  readonly shown: ReadonlyMap<string, number>;
}

export const NEW_TREE: TreeState = { open: new Map(), shown: new Map() };

/** Members of one value that are shown before it is asked for more. */
const MEMBERS_AT_FIRST = 100;

/** Values down to this level are open at first, if they have few members. */
const OPEN_LEVELS = 2;
const FEW_MEMBERS = 30;

/** The lines of a log, top to bottom, as far as it is open. */
export function treeLines(log: string, state: TreeState): readonly TreeLine[] {
  const lines: TreeLine[] = [];
  addMembers(lines, { text: log, path: '', level: 1 }, state);
  return lines;
}

function addMembers(
  lines: TreeLine[],
  { text, path, level }: { readonly text: string; readonly path: string; readonly level: number },
  state: TreeState,
): void {
  const members = membersOf(text);
  const count = state.shown.get(path) ?? MEMBERS_AT_FIRST;
  for (const [index, member] of members.slice(0, count).entries()) {
    const mine = path === '' ? String(index) : `${path}/${index}`;
    const kind = kindOf(member.text);
    const inner = kind === 'object' || kind === 'list' ? membersOf(member.text).length : 0;
    const isOpen = inner === 0 ? null : (state.open.get(mine) ?? (level < OPEN_LEVELS && inner <= FEW_MEMBERS));
    lines.push({
      path: mine,
      level,
      label: member.name ?? String(index),
      kind,
      shown: shownValue(kind, member.text, inner),
      text: member.text,
      isOpen,
      place: index + 1,
      siblings: members.length,
      more: null,
    });
    if (isOpen === true) addMembers(lines, { text: member.text, path: mine, level: level + 1 }, state);
  }
  if (members.length > count) lines.push(moreLine(path, level, members.length, count));
}

function moreLine(path: string, level: number, siblings: number, count: number): TreeLine {
  const more = siblings - count;
  return {
    path: `${path}/more`,
    level,
    label: '',
    kind: 'word',
    shown: `${more.toLocaleString('en')} more`,
    text: '',
    isOpen: null,
    place: count + 1,
    siblings,
    more,
  };
}

function shownValue(kind: JsonKind, text: string, inner: number): string {
  if (kind === 'string') return JSON.parse(text);
  if (kind === 'object') return inner === 0 ? '{}' : `{${numberOf(inner, 'member')}}`;
  if (kind === 'list') return inner === 0 ? '[]' : `[${numberOf(inner, 'element')}]`;
  return text;
}

/** Opens or closes a value. */
export function withOpen(state: TreeState, path: string, isOpen: boolean): TreeState {
  return { ...state, open: new Map(state.open).set(path, isOpen) };
}

/** Shows more members of the value that the line `more` belongs to: ten times as many. */
export function withMore(state: TreeState, { path }: Pick<TreeLine, 'path'>): TreeState {
  const owner = path.slice(0, -'/more'.length);
  return { ...state, shown: new Map(state.shown).set(owner, (state.shown.get(owner) ?? MEMBERS_AT_FIRST) * 10) };
}

/**
 * Where a key takes the focus in a tree, as in a file browser: the line that gets it, or a change of the tree. Null: the key does nothing
 * here.
 */
export type TreeMove =
  | { readonly kind: 'focus'; readonly path: string }
  | { readonly kind: 'open' | 'close'; readonly path: string }
  | null;

export function treeMove(lines: readonly TreeLine[], path: string, key: string): TreeMove {
  const at = lines.findIndex((line) => line.path === path);
  const line = lines[at];
  if (line === undefined) return null;
  const focus = (to: TreeLine | undefined): TreeMove => (to === undefined ? null : { kind: 'focus', path: to.path });
  switch (key) {
    case 'ArrowDown':
      return focus(lines[at + 1]);
    case 'ArrowUp':
      return focus(lines[at - 1]);
    case 'Home':
      return focus(lines[0]);
    case 'End':
      return focus(lines.at(-1));
    case 'ArrowRight':
      if (line.isOpen === null) return null;
      return line.isOpen ? focus(lines[at + 1]) : { kind: 'open', path };
    case 'ArrowLeft':
      if (line.isOpen === true) return { kind: 'close', path };
      return focus(lines.slice(0, at).findLast(({ level }) => level < line.level));
    default:
      return null;
  }
}
