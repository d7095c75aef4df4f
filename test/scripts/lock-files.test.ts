import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const LOCK_FILES = globSync('**/package-lock.json', { cwd: root, exclude: (path) => /(^|\/)(node_modules|\.[^/]+|data)$/.test(path) });

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
}

/** Builds for other systems of an engine that the benchmark races, whose hashes the registry does not tell. */
const WITHOUT_INTEGRITY = ['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu'].map((system) => `node_modules/@chdb/lib-${system}`);

test('every lock file is looked at', () => {
  expect(LOCK_FILES).toContain('package-lock.json');
  expect(LOCK_FILES).toContain(join('bench', 'package-lock.json'));
});

test.each(LOCK_FILES)('every package of %s has its hash, also those for other systems, so that npm installs nothing else', (file) => {
  const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { readonly packages: Readonly<Record<string, LockedPackage>> };
  const locked = Object.entries(packages).filter(([path, { link = false }]) => path !== '' && !link);
  expect(locked.length).toBeGreaterThan(0);
  const without = locked.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)).map(([path]) => path);
  expect(without).toEqual(file.startsWith('bench') ? WITHOUT_INTEGRITY : []);
});
