import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, type RunningApp, startApp } from '../src/running-app.ts';

const WEB = join(import.meta.dirname, '../../web');
/** All files together, as plain bytes. */
const MAX_BYTES = 300_000;

let app: RunningApp;
let html: string;
let policy: string;
let paths: readonly string[];

beforeAll(async () => {
  app = await startApp();
  const { text, headers } = await ask(app, '/');
  html = text;
  policy = headers.get('content-security-policy') ?? '';
  paths = [...new Set([...html.matchAll(/ (?:href|src)="\.([^"]+)"/g)].map(([, path = '']) => path))];
});

afterAll(() => app.stop());

const scripts = () => paths.filter((path) => path.endsWith('.js'));

/** The paths of what a script imports. */
async function importsOf(path: string): Promise<string[]> {
  const { text } = await ask(app, path);
  const names = [...text.matchAll(/(?:from|import) ?\(?["'](\.[\w@./-]+)["']/g)].map(([, name = '']) => name);
  return names.map((name) => new URL(name, `${app.url}${path}`).pathname);
}

describe('the page', () => {
  test('names all of its files, which may be kept for good', async () => {
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths) {
      const { status, headers } = await ask(app, path);
      expect([headers.get('content-encoding'), headers.get('vary')]).toEqual(['gzip', 'accept-encoding']);
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-type')).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml); charset=utf-8$/);
    }
  });

  test('has no address that begins at the root, which a proxy may have for something else', async () => {
    const addresses = [...html.matchAll(/ (?:href|src|action)="([^"]+)"/g)].map(([, address = '']) => address);
    expect(addresses.filter((address) => !address.startsWith('./'))).toEqual([]);
    const texts = await Promise.all(scripts().map(async (path) => (await ask(app, path)).text));
    expect(texts.join('\n').match(/["'`]\/(shield|page|docs|openapi)\b/g)).toBe(null);
  });

  test('weighs at most 300 KB, uncompressed', async () => {
    const sizes = await Promise.all(paths.map(async (path) => (await ask(app, path)).text.length));
    expect(sizes.reduce((sum, size) => sum + size, html.length)).toBeLessThan(MAX_BYTES);
  });

  test('has no indents in the markup of its scripts', async () => {
    const texts = await Promise.all(scripts().map(async (path) => (await ask(app, path)).text));
    expect(texts.join('').match(/\n +[<$]/)).toBe(null);
  });

  test('has all that its scripts import', async () => {
    for (const path of scripts()) {
      const imported = await importsOf(path);
      expect([path, imported.filter((one) => !paths.includes(one))]).toEqual([path, []]);
    }
  });

  test('loads what its first question takes before all else, and that is less than half', async () => {
    const links = [...html.matchAll(/<link rel="modulepreload" href="\.([^"]+)"( fetchpriority="low")?>/g)];
    const isLate = new Map(links.map(([, path = '', low]) => [path, low !== undefined]));
    expect([...isLate.keys()].toSorted()).toEqual(scripts().toSorted());
    const [entry = ''] = paths.filter((path) => path.endsWith('/first-question.js'));
    const needed = new Set([entry]);
    for (const path of needed) for (const one of await importsOf(path)) needed.add(one);
    expect([...isLate].filter(([path, late]) => late === needed.has(path))).toEqual([]);
    const bytes = async (some: Iterable<string>) => {
      const texts = await Promise.all(Array.from(some, async (path) => (await ask(app, path)).text.length));
      return texts.reduce((sum, length) => sum + length, 0);
    };
    expect(await bytes(needed)).toBeLessThan((await bytes(scripts())) / 2);
    const order = [...isLate.values()];
    expect(order).toEqual(order.toSorted((a, b) => Number(a) - Number(b)));
  });

  test('lets nothing else in, and nothing become markup', () => {
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/\son\w+=|\sstyle=|<style|<script(?! type="module" src=)/);
    const sources = globSync('**/*.ts', { cwd: WEB });
    expect(sources.length).toBeGreaterThan(20);
    for (const file of sources)
      expect(readFileSync(join(WEB, file), 'utf8')).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  });

  test('has all of its style sheets', () => {
    const sheets = globSync('style/*.css', { cwd: WEB }).map((path) => path.replace('style/', './'));
    const imported = [...readFileSync(join(WEB, 'style/page.css'), 'utf8').matchAll(/@import "(\.[^"]+)"/g)].map(([, path]) => path);
    expect(imported.toSorted()).toEqual(sheets.filter((path) => path !== './page.css').toSorted());
  });

  test('has no file but its own', async () => {
    const [entry = ''] = paths.filter((path) => path.endsWith('/main.js'));
    for (const path of [
      '/page/',
      '/page/web/main.ts',
      entry.replace('main.js', 'compile-search.js'),
      entry.replace('main.js', '../../src/app.ts'),
    ])
      expect([path, (await ask(app, path)).status]).toEqual([path, 404]);
  });
});
