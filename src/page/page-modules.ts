import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { init, parse } from 'es-module-lexer';
import { LIBRARY_NAMES } from './page-libraries.ts';
import type { Shorten } from './shortened-code.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

/**
 * Reads a TypeScript module of the checkout and all that it imports, as JavaScript by its path in the checkout. Nothing else is served, so
 * a module of `query/` is public only where the page uses it. A file that is missing, or a name that is no library, fails the whole.
 * The result has the modules `before` as well, with all that they import; they are not read again.
 */
export async function readModules(
  entry: string,
  shorten: Shorten,
  before: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  await init;
  const modules = new Map(before);
  let waiting: readonly string[] = [entry];
  while (waiting.length > 0) {
    const read = await Promise.all(waiting.map(async (path) => ({ path, text: await readModule(path, shorten) })));
    for (const { path, text } of read) modules.set(path, text);
    waiting = [...new Set(read.flatMap(({ path, text }) => importedFiles(path, text)))].filter((path) => !modules.has(path));
  }
  return modules;
}

async function readModule(path: string, shorten: Shorten): Promise<string> {
  return shorten(await readFile(join(CHECKOUT, path), 'utf8'), 'ts');
}

function importedFiles(path: string, text: string): readonly string[] {
  const names = importedNames(text);
  const unknown = names.find((name) => !name.startsWith('.') && !LIBRARY_NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`${path} imports '${unknown}'; the page has ${LIBRARY_NAMES.join(', ')}`);
  return names.filter((name) => name.startsWith('.')).map((name) => posix.join(posix.dirname(path), name));
}

/** The names of what a module imports, as it has them. */
function importedNames(text: string): readonly string[] {
  return parse(text)[0].flatMap((one) => (one.type === 'static' || one.type === 'dynamic' ? [one.specifier ?? ''] : []));
}

/** Returns the names of the libraries that modules import, and of those that these import; `libraries` are the texts of all by name. */
export function importedLibraries(modules: Iterable<string>, libraries: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  let waiting = [...modules];
  while (waiting.length > 0) {
    const names = new Set(waiting.flatMap(importedNames).filter((name) => libraries.has(name) && !found.has(name)));
    for (const name of names) found.add(name);
    waiting = [...names].map((name) => libraries.get(name) ?? '');
  }
  return found;
}
