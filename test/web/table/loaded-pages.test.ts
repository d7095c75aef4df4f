import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ParsedRow, rowKey } from '../../../web/api/parsed-row.ts';
import { nextStretch } from '../../../web/events/next-stretch.ts';
import {
  hasNext,
  itemAt,
  type LoadedPages,
  lineCount,
  missingPages,
  nothingLoaded,
  PAGE_ITEMS,
  type PageAnswer,
  type Stretch,
  withPage,
} from '../../../web/table/loaded-pages.ts';
import { assertProperty } from '../../random/assert-property.ts';

type LoadedRows = LoadedPages<ParsedRow>;

const noRows = (stretch: Stretch): LoadedRows => nothingLoaded(stretch);
const withRows = (loaded: LoadedRows, answer: PageAnswer<ParsedRow>): LoadedRows => withPage(loaded, answer, rowKey);

/** What the program holds: rows in its order, of which searches see those of a window. */
function programOf(times: readonly number[]) {
  const counts = new Map<number, number>();
  const rows: ParsedRow[] = times
    .map((timestamp) => {
      const count = counts.get(timestamp) ?? 0;
      counts.set(timestamp, count + 1);
      return { logId: `${timestamp}-${String(count).padStart(6, '0')}`, timestamp, shieldZoneId: 7, fields: {}, logText: '{}' };
    })
    .sort((a, b) => b.timestamp - a.timestamp || (a.logId < b.logId ? -1 : 1));
  const inWindow = (from: number, to: number): readonly ParsedRow[] => rows.filter(({ timestamp }) => timestamp >= from && timestamp < to);
  return {
    rows,
    inWindow,
    answer: ({ from, to }: Stretch, page: number) => {
      const found = inWindow(from, to);
      return { page, from, total: found.length, items: found.slice(page * PAGE_ITEMS, (page + 1) * PAGE_ITEMS) };
    },
  };
}

type Program = ReturnType<typeof programOf>;

/** Loads what the lines need, as the table does while it is scrolled. */
function loaded(program: Program, start: LoadedRows, first: number, end: number): LoadedRows {
  let state = start;
  for (let turns = 0; missingPages(state, { first, end }).length > 0 && turns < 100; turns++) {
    state = withRows(state, program.answer(state.stretch, missingPages(state, { first, end })[0] ?? 0));
  }
  return state;
}

/** All rows of the window as a person sees them who scrolls to the end, through stretches of `most` lines. */
function scrolledThrough(program: Program, stretch: Stretch, most: number): readonly (string | undefined)[] {
  const seen: (string | undefined)[] = [];
  let state = loaded(program, noRows(stretch), 0, 1);
  for (;;) {
    const count = lineCount(state, most);
    for (let line = 0; line < count; line++) {
      state = loaded(program, state, line, line + 1);
      seen.push(itemAt(state, line)?.logId);
    }
    if (!hasNext(state, most)) return seen;
    const last = itemAt(state, count - 1);
    if (last === undefined) throw new Error(`line ${count - 1} is not loaded`);
    const next = nextStretch(state.stretch, last, program.inWindow(last.timestamp, last.timestamp + 1));
    state = loaded(program, noRows(next), 0, 1);
  }
}

describe('rows by stretches', () => {
  test('are all seen once, however many share a time and wherever a stretch ends', () => {
    const times = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 400 });
    assertProperty(
      fc.property(times, fc.integer({ min: 1, max: 130 }), (all, most) => {
        const program = programOf(all);
        expect(scrolledThrough(program, { from: 0, to: 100, skip: 0 }, most)).toEqual(program.rows.map(({ logId }) => logId));
      }),
      { numRuns: 60 },
    );
  });

  test('go on within a time that has more rows than a stretch', () => {
    const program = programOf(Array<number>(350).fill(5));
    expect(scrolledThrough(program, { from: 0, to: 10, skip: 0 }, 40)).toEqual(program.rows.map(({ logId }) => logId));
  });
});

describe('loaded pages', () => {
  const stretch = { from: 0, to: 10_000, skip: 0 };
  const program = programOf(Array.from({ length: 3_000 }, (_, index) => index));

  test('are asked for from the middle of the view on, and only if they are missing', () => {
    const state = withRows(noRows(stretch), program.answer(stretch, 1));
    expect(missingPages(state, { first: 50, end: 350 })).toEqual([2, 0, 3]);
    expect(missingPages({ ...state, stretch: { ...stretch, skip: 60 } }, { first: 39, end: 140 })).toEqual([0]);
  });

  test('are forgotten when they are far from the view', () => {
    let state = noRows(stretch);
    for (let page = 0; page < 30; page++) state = withRows(state, program.answer(stretch, page));
    expect([...state.pages.keys()].sort((a, b) => a - b)).toEqual([22, 23, 24, 25, 26, 27, 28, 29]);
  });

  test('are forgotten when events came late, so that none is lost or doubled', () => {
    const before = withRows(withRows(noRows(stretch), program.answer(stretch, 0)), program.answer(stretch, 1));
    const late = programOf([...Array.from({ length: 3_000 }, (_, index) => index), 2_950]);
    const after = withRows(before, late.answer(stretch, 1));
    expect([...after.pages.keys()]).toEqual([1]);
    expect(after.total).toBe(3_001);
  });

  test('are forgotten when as many came late as were lost', () => {
    const before = withRows(noRows(stretch), program.answer(stretch, 0));
    const shifted = programOf([...Array.from({ length: 2_999 }, (_, index) => index + 1), 2_950]);
    expect([...withRows(before, shifted.answer(stretch, 1)).pages.keys()]).toEqual([1]);
  });

  test('stay when only the oldest events have left the window', () => {
    const before = withRows(noRows(stretch), program.answer(stretch, 0));
    const after = withRows(before, program.answer({ ...stretch, from: 500 }, 1));
    expect([...after.pages.keys()]).toEqual([0, 1]);
    expect([after.total, after.stretch.from]).toEqual([2_500, 500]);
  });
});
