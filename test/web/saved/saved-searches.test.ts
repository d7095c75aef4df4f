import { describe, expect, test } from 'vitest';
import { readSearchesFile, searchesFile, withImported, withRestored, withSearch } from '../../../web/saved/saved-searches.ts';
import {
  isAboutSearches,
  removeUnreadable,
  restoreUnreadable,
  storedSearches,
  storeSearches,
  UnreadableSearches,
} from '../../../web/saved/search-storage.ts';

const SEARCHES = [
  { name: 'Scanner', link: '?zone=7&q=nuclei' },
  { name: '<b>größe</b> "x"', link: '?q=%22a%22' },
];

const file = (searches: unknown): string => JSON.stringify({ shieldlogSearches: 1, searches });

test('a file of searches is read back', () => {
  expect(readSearchesFile(searchesFile(SEARCHES))).toEqual(SEARCHES);
  expect(readSearchesFile(searchesFile([]))).toEqual([]);
});

describe('a file is refused as a whole, and the message names the place', () => {
  test.each([
    ['{', 'the file is no JSON: '],
    ['[]', 'the file is []; it has to be an object with shieldlogSearches and searches'],
    ['{"searches":[]}', 'shieldlogSearches is missing; this page reads 1'],
    ['{"shieldlogSearches":2,"searches":[]}', 'shieldlogSearches is 2; this page reads 1'],
    ['{"shieldlogSearches":1,"searches":{}}', 'searches is {}; it has to be a list'],
    ['{"shieldlogSearches":1,"searches":[],"x":1}', 'the file has a member "x"; it may have shieldlogSearches and searches'],
    [file([null]), 'searches[0] is null; it has to be an object with name and link'],
    [
      file([{ name: 'a', link: '?' }, { name: 'b' }]),
      'searches[1].link is missing; it has to begin with ? and have at most 20000 characters',
    ],
    [file([{ name: ' ', link: '?' }]), 'searches[0].name is " "; it has to be a text of 1 to 100 characters'],
    [file([{ name: 5, link: '?' }]), 'searches[0].name is 5; it has to be a text of 1 to 100 characters'],
    [file([{ name: 'a', link: 'javascript:alert(1)' }]), 'searches[0].link is "javascript:alert(1)"; it has to begin with ?'],
    [
      file([{ name: 'a', link: 'https://example.net/?zone=7' }]),
      'searches[0].link is "https://example.net/?zone=7"; it has to begin with ?',
    ],
    [file([{ name: 'a', link: `?${'x'.repeat(20_000)}` }]), 'it has to begin with ? and have at most 20000 characters'],
    [file([{ name: 'a', link: '?accessKey=secret' }]), 'searches[0].link has an accessKey; keys are not saved'],
    [file([...SEARCHES, { name: 'Scanner ', link: '?' }]), 'the name "Scanner" stands twice; each search needs one of its own'],
    [
      file(Array.from({ length: 201 }, (_, index) => ({ name: `${index}`, link: '?' }))),
      'there would be 201 searches; at most 200 are kept',
    ],
  ])('%.60s', (text, message) => {
    expect(() => readSearchesFile(text)).toThrow(message);
  });
});

describe('the list', () => {
  test('gets a search, in place of the one of its name', () => {
    expect(withSearch(SEARCHES, ' New ', '?x=1')).toEqual([...SEARCHES, { name: 'New', link: '?x=1' }]);
    expect(withSearch(SEARCHES, 'Scanner', '?x=1')).toEqual([{ name: 'Scanner', link: '?x=1' }, SEARCHES[1]]);
    expect(() => withSearch(SEARCHES, '', '?')).toThrow('the name is ""');
  });

  test('loses nothing to an import: a name that is taken gets a number', () => {
    const list = withImported(SEARCHES, [...SEARCHES, { name: 'Scanner', link: '?other' }, { name: 'New', link: '?' }]);
    expect(list).toEqual([...SEARCHES, { name: 'Scanner (2)', link: '?other' }, { name: 'New', link: '?' }]);
    const long = { name: 'x'.repeat(100), link: '?1' };
    expect(withImported([long], [{ ...long, link: '?2' }])[1]?.name).toBe(`${'x'.repeat(96)} (2)`);
  });

  test('gets nothing from a file that was imported before, whatever names its searches have got', () => {
    const file = [{ name: 'Scanner', link: '?other' }, { name: 'Scanner (2)', link: '?third' }, ...SEARCHES];
    const list = withImported(SEARCHES, file);
    expect(list.map(({ name }) => name)).toEqual(['Scanner', '<b>größe</b> "x"', 'Scanner (2)', 'Scanner (2) (2)']);
    expect(withImported(list, file)).toEqual(list);
  });

  test('gets a removed search back at its place, with a number where its name is taken by now', () => {
    const [first = { name: '', link: '' }, ...others] = SEARCHES;
    expect(withRestored(others, first, 0)).toEqual(SEARCHES);
    const taken = [{ name: first.name, link: '?other' }];
    expect(withRestored(taken, first, 0)).toEqual([{ ...first, name: 'Scanner (2)' }, ...taken]);
  });
});

describe('the list of a browser', () => {
  function storageOf(texts: Map<string, string>) {
    return () => ({
      getItem: (key: string) => texts.get(key) ?? null,
      setItem: (key: string, text: string) => void texts.set(key, text),
      removeItem: (key: string) => void texts.delete(key),
    });
  }

  test('is kept', () => {
    const storage = storageOf(new Map());
    expect(storedSearches(storage)).toEqual([]);
    storeSearches(storage, SEARCHES);
    expect(storedSearches(storage)).toEqual(SEARCHES);
  });

  test('that cannot be read is left as it is, and said', () => {
    const texts = new Map([['shieldlog.searches', '{"old":true}']]);
    expect(() => storedSearches(storageOf(texts))).toThrow(
      'cannot be read, and are left as they are (shieldlog.searches): the file has a member',
    );
    expect(texts.get('shieldlog.searches')).toBe('{"old":true}');
  });

  test('that cannot be read is given away with its text, removed on demand, and put back', () => {
    const texts = new Map([['shieldlog.searches', '{"shieldlogSearches":1']]);
    const storage = storageOf(texts);
    expect(() => storedSearches(storage)).toThrow(expect.objectContaining({ text: '{"shieldlogSearches":1' }));
    expect(() => storedSearches(storage)).toThrow(UnreadableSearches);
    removeUnreadable(storage, '{"shieldlogSearches":1');
    expect([...texts]).toEqual([]);
    expect(storedSearches(storage)).toEqual([]);
    restoreUnreadable(storage, '{"shieldlogSearches":1');
    expect([...texts]).toEqual([['shieldlog.searches', '{"shieldlogSearches":1']]);
  });

  test('is neither removed nor written over where another tab has mended it meanwhile', () => {
    const texts = new Map<string, string>();
    const storage = storageOf(texts);
    storeSearches(storage, SEARCHES);
    for (const replace of [removeUnreadable, restoreUnreadable]) {
      expect(() => replace(storage, '{')).toThrow('another tab has changed what is stored (shieldlog.searches); it is left as it is');
    }
    expect(storedSearches(storage)).toEqual(SEARCHES);
  });

  test('that the browser forbids or has no room for is said', () => {
    const forbidden = () => {
      throw new Error('denied');
    };
    expect(() => storedSearches(forbidden)).toThrow('this browser lets the page keep nothing: denied');
    expect(() => storeSearches(forbidden, [])).toThrow('this browser does not keep the searches: denied');
    expect(() => removeUnreadable(forbidden, '')).toThrow('this browser does not change what is stored (shieldlog.searches): denied');
  });

  test('changes with that of another tab', () => {
    expect(['shieldlog.searches', 'other', null].map((key) => isAboutSearches({ key }))).toEqual([true, false, true]);
  });
});
