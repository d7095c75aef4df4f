import { describe, expect, test } from 'vitest';
import { NEW_TREE, type TreeState, treeLines, treeMove, withMore, withOpen } from '../../../web/events/json-tree.ts';

const LOG = '{"id":9007199254740993123,"m":"a\\nb","h":[{"Name":"Host"},{}],"e":{}}';

function drawn(log: string, state: TreeState = NEW_TREE): readonly string[] {
  return treeLines(log, state).map(({ level, label, shown, isOpen }) => {
    const mark = isOpen === null ? ' ' : isOpen ? '-' : '+';
    return `${'  '.repeat(level - 1)}${mark}${label}: ${shown}`;
  });
}

describe('the tree of a log', () => {
  test('has the digits of its numbers, and is open down to its second level', () => {
    expect(drawn(LOG)).toEqual([' id: 9007199254740993123', ' m: a\nb', '-h: [2 elements]', '  +0: {1 member}', '   1: {}', ' e: {}']);
  });

  test('opens and closes', () => {
    expect(drawn(LOG, withOpen(NEW_TREE, '2/0', true))).toContain('     Name: Host');
    expect(drawn(LOG, withOpen(NEW_TREE, '2', false))).toEqual([' id: 9007199254740993123', ' m: a\nb', '+h: [2 elements]', ' e: {}']);
  });

  test('of many members shows the first hundred, and more when asked', () => {
    const log = JSON.stringify({ list: Array.from({ length: 2_500 }, (_, index) => index) });
    expect(drawn(log)).toEqual(['+list: [2,500 elements]']);
    const open = withOpen(NEW_TREE, '0', true);
    expect(drawn(log, open)).toHaveLength(1 + 100 + 1);
    const [more] = treeLines(log, open).slice(-1);
    expect(more).toMatchObject({ shown: '2,400 more', more: 2_400, level: 2, place: 101, siblings: 2_500 });
    expect(drawn(log, withMore(open, { path: '0/more' }))).toHaveLength(1 + 1_000 + 1);
    expect(drawn(log, withMore(withMore(open, { path: '0/more' }), { path: '0/more' }))).toHaveLength(1 + 2_500);
  });

  test('of a log that is one long list itself shows more of it, too', () => {
    const log = JSON.stringify(Array.from({ length: 150 }, () => 0));
    expect(drawn(log).at(-1)).toBe(' : 50 more');
    expect(drawn(log, withMore(NEW_TREE, { path: '/more' }))).toHaveLength(150);
  });
});

describe('a key in the tree', () => {
  const lines = treeLines(LOG, NEW_TREE);

  test.each([
    ['2', 'ArrowDown', { kind: 'focus', path: '2/0' }],
    ['0', 'ArrowUp', null],
    ['3', 'ArrowUp', { kind: 'focus', path: '2/1' }],
    ['3', 'ArrowDown', null],
    ['1', 'Home', { kind: 'focus', path: '0' }],
    ['1', 'End', { kind: 'focus', path: '3' }],
    ['2', 'ArrowRight', { kind: 'focus', path: '2/0' }],
    ['2/0', 'ArrowRight', { kind: 'open', path: '2/0' }],
    ['0', 'ArrowRight', null],
    ['2', 'ArrowLeft', { kind: 'close', path: '2' }],
    ['2/1', 'ArrowLeft', { kind: 'focus', path: '2' }],
    ['0', 'ArrowLeft', null],
    ['0', 'x', null],
    ['gone', 'ArrowDown', null],
  ])('from %s: %s', (path, key, move) => {
    expect(treeMove(lines, path, key)).toEqual(move);
  });
});
