import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type BuildOptions, build, type Plugin, stop } from 'esbuild';

const CHECKOUT = join(import.meta.dirname, '../..');

/** The modules that run by themselves. What the first one imports is small, so that the page's question is asked early. */
const ENTRIES = { first: 'web/first-question.ts', main: 'web/main.ts' };

/** The style sheets of the page. */
const STYLES = 'web/style/page.css';

/**
 * Takes the indents out of markup, which esbuild keeps, and line ends before tags and values, which mean nothing there. No other text of
 * the page goes over several lines of its source.
 */
const UNINDENTED: Plugin = {
  name: 'unindented markup',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]web[\\/].*\.ts$/ }, async ({ path }) => {
      return { contents: (await readFile(path, 'utf8')).replaceAll(/\n\s+(?=<|\/?>|\$\{)|(\n)\s+/g, '$1'), loader: 'ts' };
    });
  },
};

const OPTIONS: BuildOptions = {
  absWorkingDir: CHECKOUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  minify: true,
  charset: 'utf8',
  legalComments: 'inline',
  target: 'es2024',
  outdir: '/',
  write: false,
  metafile: true,
  plugins: [UNINDENTED],
  logLevel: 'silent',
};

/** A file of the page. */
export interface BundledFile {
  readonly name: string;
  readonly kind: 'script' | 'style';
  readonly text: string;
  /** Whether it runs by itself, and is not only imported. */
  readonly isEntry: boolean;
  /** Whether the first question does not need the file, and is not to wait behind it. */
  readonly isLate: boolean;
}

/** How many pages are being made ready; esbuild is one process beside this one for all of them. */
let readers = 0;

/**
 * Makes the page ready: its modules, those that they import of `query/`, and libraries, with types, comments and blanks taken out and
 * names shortened. Nothing else is served, so what is in a module of `query/` is public only where the page uses it. What the first
 * question needs is in files of its own, which come first.
 */
export async function bundlePage(): Promise<readonly BundledFile[]> {
  readers += 1;
  try {
    const { outputFiles = [], metafile } = await build({ ...OPTIONS, entryPoints: [...Object.values(ENTRIES), STYLES] });
    const outputs = new Map(Object.entries(metafile?.outputs ?? {}).map(([path, output]) => [basename(path), output]));
    const early = new Set<string>();
    for (const [name, { entryPoint, imports }] of outputs) {
      if (entryPoint === ENTRIES.first) for (const each of [name, ...imports.map(({ path }) => basename(path))]) early.add(each);
    }
    const files = outputFiles.map(({ path, text }): BundledFile => {
      const name = basename(path);
      const isScript = name.endsWith('.js');
      const isEntry = outputs.get(name)?.entryPoint !== undefined;
      return { name, kind: isScript ? 'script' : 'style', text, isEntry, isLate: isScript && !early.has(name) };
    });
    return files.toSorted((a, b) => Number(a.isLate) - Number(b.isLate));
  } finally {
    readers -= 1;
    if (readers === 0) await stop();
  }
}
