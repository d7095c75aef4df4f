import { describe, expect, test } from 'vitest';
import { raceHtml } from '../../../../bench/report/page/race-html.ts';
import { alone, coldOnly, different, full, hotOnly, nothing } from '../race-examples.ts';

const PAGES = Object.entries({ full, nothing, hotOnly, coldOnly, alone, different }).map(([name, result]) => ({
  name,
  page: raceHtml(result),
}));

const VOID = new Set(['meta', '!doctype']);

/** Returns the errors in the nesting of a page's elements. */
function nestingErrors(page: string): string[] {
  const open: string[] = [];
  const errors: string[] = [];
  for (const [tag, end, name = '', rest = ''] of page
    .replace(/<style>.*?<\/style>/s, '')
    .matchAll(/<(\/?)([!a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*\s*\/?)>/g)) {
    if (end === '/') {
      const last = open.pop();
      if (last !== name) {
        errors.push(`${tag} ends ${last}`);
      }
    } else if (!VOID.has(name) && !rest.endsWith('/')) {
      open.push(name);
    }
  }
  return [...errors, ...open.map((name) => `${name} has no end`)];
}

describe.each(PAGES)('the page of a result: $name', ({ page }) => {
  test('nests its elements', () => {
    expect(nestingErrors(page)).toEqual([]);
  });

  test('has no < that does not begin an element', () => {
    expect(page.replace(/<style>.*?<\/style>/s, '')).not.toMatch(/<(?!\/?[a-z]|!doctype)/);
  });

  test('gives no id twice, and every reference to one has its element', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string);
    expect(ids).toEqual([...new Set(ids)]);
    const referred = [...page.matchAll(/ aria-labelledby="([^"]+)"/g)].flatMap(([, list = '']) => list.split(' '));
    expect(referred.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test('loads and runs nothing, and forbids it', () => {
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/<(script|link|img|iframe|object|embed|base|form|image|use|a)\b/);
    expect(page).not.toMatch(/https?:|\bsrc=|\bhref=|@import|url\(|\son[a-z]+="/);
  });

  test('holds no number that is none', () => {
    expect(page).not.toMatch(/NaN|Infinity|undefined|null|\[object/);
  });

  test('names every table, every column and every row of one', () => {
    const tables = page.match(/<table>.*?<\/table>/gs) ?? [];
    for (const table of tables) {
      expect(table).toMatch(/<caption id="[^"]+">[^<]+<\/caption>/);
      expect(table).not.toMatch(/<th(?![^>]* scope="(col|row|colgroup)")[ >]/);
      const body = table.replace(/<thead>.*<\/thead>/s, '');
      expect(body.match(/<tr>(?!<th class="name" scope="row">)/)).toBeNull();
    }
  });

  test('says in words what each plot shows', () => {
    const plots = page.match(/<svg role="img".*?<\/desc>/gs) ?? [];
    expect(plots.length).toBe(page.match(/<svg role="img"/g)?.length ?? 0);
    for (const plot of plots) {
      expect(plot).toMatch(/<title id="[^"]+">[^<]+<\/title>\n<desc id="[^"]+">[^<]+<\/desc>/);
    }
  });
});
