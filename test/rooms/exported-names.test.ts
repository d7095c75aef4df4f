import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const CHECKOUT = join(import.meta.dirname, '../..');

/** The rooms of the program. Tests and measurements have many small names of their own. */
const ROOMS = ['query', 'sql', 'work', 'store', 'ingest', 'alerts', 'edge', 'src', 'web'];

/** The kernels: AssemblyScript imports nothing of the program, and each kernel is the twin of a module, whose words it shares. */
const KERNEL = /\/kernel\//;

/** Names that stand in several files, and why they may. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  startWork: 'Every module that a thread loads exports it: `work/worker-thread.ts` calls it by this name.',
};

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...ROOMS.map((room) => `${room}/**.ts`)], {
  cwd: CHECKOUT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !KERNEL.test(file) && existsSync(join(CHECKOUT, file)));

const DECLARED = /^export (?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;

/** The names that a module exports. */
function exportedNames(source: string): readonly string[] {
  const declared = [...source.matchAll(DECLARED)].map(([, name = '']) => name);
  const listed = [...source.matchAll(LISTED)].flatMap(([, names = '']) => names.split(','));
  return [...declared, ...listed.map((name) => name.trim().split(/\s+/).at(-1) ?? '').filter((name) => name !== '')];
}

const exporters = new Map<string, string[]>();
for (const file of files) {
  for (const name of exportedNames(readFileSync(join(CHECKOUT, file), 'utf8'))) {
    exporters.set(name, [...(exporters.get(name) ?? []), file]);
  }
}
const doubles = [...exporters].filter(([, inFiles]) => inFiles.length > 1);

describe('an exported name', () => {
  test('is found in every form of an export', () => {
    const source = [
      'export interface A {}',
      'export type B<T> = T;',
      'export const C = 1;',
      'export async function* d() {}',
      'export abstract class E {}',
      "export { f, type G, h as i } from './other.ts';",
      '  export const inner = 1;',
    ].join('\n');
    expect(exportedNames(source)).toEqual(['A', 'B', 'C', 'd', 'E', 'f', 'G', 'i']);
    expect(exporters.size).toBeGreaterThan(1000);
  });

  test('stands in one file: what differs has another name, what is the same is imported', () => {
    expect(doubles.filter(([name]) => !(name in EXCEPTIONS)).map(([name, inFiles]) => `${name}: ${inFiles.join(', ')}`)).toEqual([]);
  });

  test.each(Object.entries(EXCEPTIONS))('may be %s in several files, which it is, for a reason', (name, reason) => {
    expect(reason).toMatch(/^[A-Z`].*\.$/);
    expect(doubles.map(([double]) => double)).toContain(name);
  });
});
