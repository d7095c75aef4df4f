import { createHash } from 'node:crypto';
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
  paths = [...new Set([...html.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, path = '']) => path))];
});

afterAll(() => app.stop());

describe('the page', () => {
  test('names all of its files, which may be kept for good', async () => {
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) {
      const { status, headers } = await ask(app, path);
      expect([headers.get('content-encoding'), headers.get('vary')]).toEqual(['gzip', 'accept-encoding']);
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-type')).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml); charset=utf-8$/);
    }
  });

  test('weighs at most 300 KB, uncompressed', async () => {
    const sizes = await Promise.all(paths.map(async (path) => (await ask(app, path)).text.length));
    expect(sizes.reduce((sum, size) => sum + size, html.length)).toBeLessThan(MAX_BYTES);
  });

  test('has an import map that the policy lets in, for every name that is imported', async () => {
    const [, importMap = ''] = /<script type="importmap">(.*?)<\/script>/.exec(html) ?? [];
    expect(policy).toContain(`'sha256-${createHash('sha256').update(importMap).digest('base64')}'`);
    const { imports } = JSON.parse(importMap);
    const scripts = await Promise.all(
      paths.filter((path) => /\.[jt]s$/.test(path)).map(async (path) => [path, (await ask(app, path)).text]),
    );
    for (const [path = '', text = ''] of scripts) {
      for (const [, name = ''] of text.matchAll(/(?:from|^import) ?["']([\w@./-]+)["']/gm)) {
        const target = name.startsWith('.') ? new URL(name, `${app.url}${path}`).pathname : imports[name];
        expect([path, name, paths.includes(target)]).toEqual([path, name, true]);
      }
    }
  });

  test('loads what its first question takes before all else', async () => {
    const links = [...html.matchAll(/<link rel="modulepreload" href="([^"]+)"( fetchpriority="low")?>/g)];
    const isLate = new Map(links.map(([, path = '', low]) => [path, low !== undefined]));
    const [entry = ''] = paths.filter((path) => path.endsWith('/web/first-question.ts'));
    const { imports } = JSON.parse(/<script type="importmap">(.*?)<\/script>/.exec(html)?.[1] ?? '{}');
    const needed = new Set([entry]);
    for (const path of needed) {
      const { text } = await ask(app, path);
      for (const [, name = ''] of text.matchAll(/(?:from|^import|;import) ?["']([\w@./-]+)["']/gm))
        needed.add(name.startsWith('.') ? new URL(name, `${app.url}${path}`).pathname : imports[name]);
    }
    expect([...isLate].filter(([path, late]) => late === needed.has(path))).toEqual([]);
    expect(needed.size).toBeLessThan(isLate.size / 2);
    const order = [...isLate.values()];
    expect(order).toEqual(order.toSorted((a, b) => Number(a) - Number(b)));
  });

  test('lets nothing else in, and nothing become markup', () => {
    expect(policy).toContain("default-src 'none'; script-src 'self' 'sha256-");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/\son\w+=|\sstyle=|<style|<script(?! type="importmap"| type="module" src=)/);
    const sources = globSync('**/*.ts', { cwd: WEB });
    expect(sources.length).toBeGreaterThan(20);
    for (const file of sources)
      expect(readFileSync(join(WEB, file), 'utf8')).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  });

  test('has no file but its own', async () => {
    const [entry = ''] = paths.filter((path) => path.endsWith('/web/main.ts'));
    for (const path of ['/page/', entry.replace('web/main.ts', 'query/compile-search.ts'), entry.replace('web', '../src')])
      expect([path, (await ask(app, path)).status]).toEqual([path, 404]);
  });
});
