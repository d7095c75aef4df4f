import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needsInstall } from '../../scripts/needs-install.mjs';
import { findNode, isRecentEnough } from '../../scripts/node-runtime.mjs';

const lock = (packages: object): string => JSON.stringify({ packages: { '': { name: 'x' }, ...packages } });
const A1 = { version: '1.0.0', integrity: 'sha512-a1' };

describe('npm ci is needed', () => {
  test.each([
    ['where nothing is installed', lock({}), null, 'nothing is installed yet'],
    ['where the record is cut off', lock({}), '{"packages":', 'the record of what is installed cannot be read'],
    ['where a package is missing', lock({ 'node_modules/a': A1 }), lock({}), 'node_modules/a is missing'],
    [
      'where a version differs',
      lock({ 'node_modules/a': { ...A1, version: '1.1.0' } }),
      lock({ 'node_modules/a': A1 }),
      'node_modules/a is 1.0.0, package-lock.json says 1.1.0',
    ],
    ['where a package is too much', lock({}), lock({ 'node_modules/a': A1 }), 'node_modules/a is not in package-lock.json'],
  ])('%s', (_when, locked, installed, reason) => {
    expect(needsInstall(locked, installed)).toBe(reason);
  });

  test.each([
    ['where all is there', lock({ 'node_modules/a': A1 }), lock({ 'node_modules/a': A1 })],
    ['for a build that belongs to another system', lock({ 'node_modules/a': { ...A1, optional: true } }), lock({})],
  ])('not %s', (_when, locked, installed) => {
    expect(needsInstall(locked, installed)).toBeNull();
  });
});

describe('the Node that runs the program', () => {
  test.each([
    ['24.10.0', true],
    ['24.21.0', true],
    ['25.0.0', true],
    ['24.9.9', false],
    ['22.20.0', false],
    ['20.20.2', false],
  ])('may be %s: %s', (version, may) => {
    expect(isRecentEnough(version)).toBe(may);
  });

  test('is the one that the packages bring along where the running one is too old, and none where there is none', () => {
    const root = join(import.meta.dirname, '../..');
    expect(findNode({ root, execPath: '/old/node', version: '20.0.0' })).toBe(join(root, 'node_modules/node/bin/node'));
    expect(findNode({ root: '/nowhere', execPath: '/old/node', version: '20.0.0' })).toBeNull();
    expect(findNode({ root: '/nowhere', execPath: '/new/node', version: '24.10.0' })).toBe('/new/node');
  });
});
