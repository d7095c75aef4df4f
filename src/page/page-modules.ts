import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { transformSync } from 'amaro';
import { init, parse } from 'es-module-lexer';
import { LIBRARY_NAMES } from './page-libraries.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

/**
 * Reads a TypeScript module of the checkout and all that it imports, as JavaScript by its path in the checkout. Nothing else is served, so
 * a module of `query/` is public only where the page uses it. A file that is missing, or a name that is no library, fails the whole.
 */
export async function readModules(entry: string): Promise<ReadonlyMap<string, string>> {
  await init;
  const modules = new Map<string, string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (modules.has(path)) continue;
    const text = withoutTypes(await readFile(join(CHECKOUT, path), 'utf8'));
    modules.set(path, text);
    for (const name of importedNames(text)) {
      if (name.startsWith('.')) waiting.push(posix.join(posix.dirname(path), name));
      else if (!LIBRARY_NAMES.includes(name)) throw new Error(`${path} imports '${name}'; the page has ${LIBRARY_NAMES.join(', ')}`);
    }
  }
  return modules;
}

/** The types become blanks, so that every line and column stays; those at the end of a line are only weight. */
function withoutTypes(source: string): string {
  return transformSync(source, { mode: 'strip-only' }).code.replaceAll(/[ \t]+$/gm, '');
}

function importedNames(text: string): readonly string[] {
  return parse(text)[0].flatMap((one) => (one.type === 'static' || one.type === 'dynamic' ? [one.specifier ?? ''] : []));
}
