import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidSearchError } from '../../query/request/request-errors.ts';
import { HOSTILE_STRINGS, SEARCHED_HOSTILE_STRINGS } from '../corpus/hostile-strings.ts';
import { foldCase } from '../oracle/fold-case.ts';

export interface HostileGroup {
  readonly key: readonly string[];
  readonly count: number;
}

/** A table in a real engine with an event for each text, in several of its columns; `logId` is the index of the text in the list. */
export interface TableOfTexts {
  /** Returns the indexes of the texts that a search with these fields finds, ascending. */
  find(fields: object): Promise<number[]>;
  /** The keys and counts of the groups, from the first phase, and the counts that the second phase has for those keys. */
  groups(fields: object): Promise<{ readonly groups: readonly HostileGroup[]; readonly details: readonly number[] }>;
  close(): void;
}

const TEXTS = HOSTILE_STRINGS.map(({ text }) => text);
const FOLDED = TEXTS.map(foldCase);

/** The terms of those texts that say something to the query's one piece of syntax, the quote at the beginning of a term. */
const QUOTED: Readonly<Record<string, readonly string[]>> = {
  'an empty phrase': [],
  'a quoted phrase and an open one': ['say', 'hello world', 'and', '"goodbye'],
  'an SQL identifier': ['url', 'FROM', 'hot_1'],
  'a JSON fragment': ['}],', 'filters":[{"'],
};

/** Returns the indexes of the texts for which `matches` holds, given in the case that folding gives them. */
function placesWhere(matches: (folded: string) => boolean): number[] {
  return FOLDED.flatMap((folded, index) => (matches(folded) ? [index] : []));
}

/** Whether `runs`, the literal runs between stars, make up the whole text: each is looked for as far to the left as can be. */
function isMadeOf(runs: readonly string[], text: string): boolean {
  const [first = '', ...others] = runs;
  const last = others.pop();
  if (last === undefined) {
    return text === first;
  }
  if (!text.startsWith(first)) {
    return false;
  }
  let at = first.length;
  for (const run of others) {
    const found = text.indexOf(run, at);
    if (found < 0) {
      return false;
    }
    at = found + run.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

const SEARCHED_TEXTS = SEARCHED_HOSTILE_STRINGS.map(({ text }) => text);

const PLACED = HOSTILE_STRINGS.map(({ name, text }, index) => ({ name, text, index }));

const filter = (field: string, op: string, ...value: string[]) => ({ filters: [{ field, op, value }] });

/** The tests of an engine. `fill` makes its table. */
export function describeHostileTexts(fill: (texts: readonly string[]) => Promise<TableOfTexts>): void {
  let table: TableOfTexts;

  beforeAll(async () => {
    table = await fill(TEXTS);
  });

  afterAll(() => table.close());

  describe('the corpus', () => {
    it('has no two texts that are the same when case is ignored, and only Unicode', () => {
      expect(new Set(FOLDED).size).toBe(TEXTS.length);
      expect(TEXTS.filter((text) => !text.isWellFormed())).toEqual([]);
    });

    it('is found whole by all its texts at once', async () => {
      const everything = placesWhere(() => true);
      expect(await table.find(filter('url', 'in', ...TEXTS))).toEqual(everything);
      expect(await table.find(filter('feature', 'in', ...TEXTS))).toEqual(everything);
      expect(await table.find(filter('ip', 'in', ...TEXTS))).toEqual(everything);
      expect(await table.find(filter('url', 'wildcard', ...SEARCHED_TEXTS))).toEqual(everything);
      const needles = SEARCHED_TEXTS.filter((text) => text !== '');
      const holding = placesWhere((stored) => needles.some((needle) => stored.includes(foldCase(needle))));
      expect(await table.find(filter('url', 'contains', ...needles))).toEqual(holding);
    });

    it.each([['url'], ['feature'], ['ip'], ['url', 'country']])('makes one group a text, by %s', async (...dimensions) => {
      const { groups, details } = await table.groups({ groupBy: dimensions });
      const sorted = TEXTS.map((text) => Buffer.from(text)).sort(Buffer.compare);
      expect(groups).toEqual(sorted.map((text) => ({ key: [text.toString(), ''].slice(0, dimensions.length), count: 1 })));
      expect(details).toEqual(TEXTS.map(() => 1));
    });

    it('has no text with one more character before or behind', async () => {
      expect(await table.find(filter('url', 'in', ...TEXTS.flatMap((text) => [`\u2603${text}`, `${text}\u2603`])))).toEqual([]);
    });
  });

  describe.each(PLACED)('$name', ({ text, index }) => {
    it('eq and in find the one event, whatever the field', async () => {
      expect(await table.find(filter('url', 'eq', text))).toEqual([index]);
      expect(await table.find(filter('feature', 'in', text))).toEqual([index]);
      expect(await table.find(filter('ip', 'eq', text))).toEqual([index]);
    });

    it('cidr is refused', async () => {
      await expect(table.find(filter('ip', 'cidr', text))).rejects.toThrow(InvalidSearchError);
    });
  });

  describe.each(SEARCHED_HOSTILE_STRINGS)('$name', ({ name, text }) => {
    const folded = foldCase(text);

    it('wildcard finds the events that it describes, and only its stars are special', async () => {
      const runs = folded.split('*');
      expect(await table.find(filter('url', 'wildcard', text))).toEqual(placesWhere((stored) => isMadeOf(runs, stored)));
      for (const pattern of [`*${text}`, `${text}*`, `*${text}*e*`]) {
        const expected = placesWhere((stored) => isMadeOf(foldCase(pattern).split('*'), stored));
        expect(await table.find(filter('url', 'wildcard', pattern)), pattern.slice(0, 100)).toEqual(expected);
      }
    });

    it('a query finds the events that have its terms', async () => {
      const terms = (QUOTED[name] ?? text.split(/\s/)).map(foldCase);
      expect(await table.find({ query: text })).toEqual(placesWhere((stored) => terms.every((term) => stored.includes(term))));
    });
  });

  describe('contains', () => {
    it.each(SEARCHED_HOSTILE_STRINGS.filter(({ text }) => text !== ''))(
      '$name finds the events that have it somewhere',
      async ({ text }) => {
        const expected = placesWhere((stored) => stored.includes(foldCase(text)));
        expect(await table.find(filter('url', 'contains', text))).toEqual(expected);
      },
    );
  });

  describe('a phrase', () => {
    it.each(SEARCHED_HOSTILE_STRINGS.filter(({ text }) => !text.includes('"')))(
      '$name finds the events that have it in one piece',
      async ({ text }) => {
        expect(await table.find({ query: `"${text}"` })).toEqual(placesWhere((stored) => stored.includes(foldCase(text))));
      },
    );
  });
}
