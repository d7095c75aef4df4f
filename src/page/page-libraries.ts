import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { Shorten } from './shortened-code.ts';

interface PageLibrary {
  /** The name by which modules import it. */
  readonly name: string;
  /** The file that browsers run, in the folder of its package. */
  readonly file: string;
  /** `script`: the file sets a variable instead of exporting. `commonjs`: it sets `module.exports`, and requires nothing. */
  readonly form: 'module' | 'commonjs' | { readonly script: string };
}

/** Everything that the page imports by name. uPlot's script is a third of its module, which comes only with comments. */
const LIBRARIES: readonly PageLibrary[] = [
  { name: 'preact', file: 'dist/preact.mjs', form: 'module' },
  { name: 'preact/hooks', file: 'hooks/dist/hooks.mjs', form: 'module' },
  { name: '@preact/signals-core', file: 'dist/signals-core.mjs', form: 'module' },
  { name: '@preact/signals', file: 'dist/signals.mjs', form: 'module' },
  { name: 'htm', file: 'dist/htm.mjs', form: 'module' },
  { name: 'uplot', file: 'dist/uPlot.iife.min.js', form: { script: 'uPlot' } },
  { name: 'ipaddr.js', file: 'lib/ipaddr.js', form: 'commonjs' },
];

export const LIBRARY_NAMES: readonly string[] = LIBRARIES.map(({ name }) => name);

/** Reads a library as an ES module. Its source map is not served, so the mention of that is left out. */
export async function readLibrary(name: string, shorten: Shorten): Promise<string> {
  const library = LIBRARIES.find((one) => one.name === name);
  if (library === undefined) throw new Error(`The page imports '${name}'; it has ${LIBRARY_NAMES.join(', ')}`);
  const text = (await readPackageFile(name, library.file)).replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '\n');
  if (library.form === 'module') return text;
  // This one is in a form for reading.
  if (library.form === 'commonjs') return shorten(`const module = { exports: {} };\n${text}\nexport default module.exports;\n`, 'js');
  return `${text}\nexport default ${library.form.script};\n`;
}

/** The style sheet of uPlot. */
export function readLibraryStyle(): Promise<string> {
  return readPackageFile('uplot', 'dist/uPlot.min.css');
}

async function readPackageFile(name: string, file: string): Promise<string> {
  // `preact/hooks` is a folder of the package `preact`.
  const packageName = name.startsWith('@') ? name : name.replace(/\/.*/, '');
  const description = findPackageJSON(packageName, import.meta.filename);
  if (description === undefined) throw new Error(`The package ${packageName} of the page is not installed`);
  return readFile(join(dirname(description), file), 'utf8');
}
