import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { LIBRARY_NAMES, readLibrary, readLibraryStyle } from './page-libraries.ts';
import { importedLibraries, readModules } from './page-modules.ts';
import { type Shorten, withShortener } from './shortened-code.ts';

const FOLDER = join(import.meta.dirname, '../../web');
/** The modules that run by themselves, in this order. The first one is small, so that the page's question is asked early. */
const FIRST_ENTRY = 'web/first-question.ts';
const ENTRY = 'web/main.ts';

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The bytes compressed, for those who take them so. */
  readonly gzip: Buffer;
}

/** The explorer page as it is served: bytes that all readers share. */
export interface ServedPage {
  readonly html: Buffer;
  /** The header `content-security-policy` of the page. */
  readonly policy: string;
  /** The files by their paths, which have a hash of all of them, so that browsers may keep them for good. */
  readonly files: ReadonlyMap<string, PageFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** Where `web/index.html` gets its styles and scripts. */
const HEAD_MARK = '<!-- styles and scripts -->';

/** Reads the page from `web/`, `query/` and its libraries. Its files are below `prefix`, such as `/page`. */
export async function readServedPage(prefix: string): Promise<ServedPage> {
  const files = await withShortener(async (shorten) => [...(await scripts(shorten)), ...(await styles(shorten))]);
  const base = `${prefix}/${hashOf(JSON.stringify(files), 'base64url').slice(0, 12)}`;
  const template = await readFile(join(FOLDER, 'index.html'), 'utf8');
  const importMap = JSON.stringify({ imports: Object.fromEntries(LIBRARY_NAMES.map((name) => [name, `${base}/${libraryPath(name)}`])) });
  const paths = files.map(([path]) => `${base}/${path}`);
  const head = [
    ...paths.filter((path) => path.endsWith('.svg')).map((path) => `<link rel="icon" href="${path}">`),
    ...paths.filter((path) => path.endsWith('.css')).map((path) => `<link rel="stylesheet" href="${path}">`),
    `<script type="importmap">${importMap}</script>`,
    // The browser is told of all modules at once: it would otherwise find them one after the other.
    ...files
      .filter(([, { type }]) => type === SCRIPT_TYPE)
      .map(([path, { isLate }]) => `<link rel="modulepreload" href="${base}/${path}"${isLate ? ' fetchpriority="low"' : ''}>`),
    ...[FIRST_ENTRY, ENTRY].map((entry) => `<script type="module" src="${base}/${entry}"></script>`),
  ];
  return {
    html: Buffer.from(template.replace(HEAD_MARK, () => head.join('\n    '))),
    policy: policyFor(importMap),
    files: new Map(files.map(([path, { type, text }]) => [`${base}/${path}`, { type, bytes: Buffer.from(text), gzip: gzipSync(text) }])),
  };
}

interface NamedFileContent {
  readonly type: string;
  readonly text: string;
  /** Whether the first question does not need the file, and is not to wait behind it. */
  readonly isLate: boolean;
}

type NamedFile = readonly [path: string, file: NamedFileContent];

async function scripts(shorten: Shorten): Promise<readonly NamedFile[]> {
  const early = await readModules(FIRST_ENTRY, shorten);
  const modules = [...(await readModules(ENTRY, shorten, early))].map(([path, text]): NamedFile => {
    return [path, { type: SCRIPT_TYPE, text, isLate: !early.has(path) }];
  });
  const texts = new Map(await Promise.all(LIBRARY_NAMES.map(async (name) => [name, await readLibrary(name, shorten)] as const)));
  const earlyLibraries = importedLibraries(early.values(), texts);
  const libraries = [...texts].map(([name, text]): NamedFile => {
    return [libraryPath(name), { type: SCRIPT_TYPE, text, isLate: !earlyLibraries.has(name) }];
  });
  return [...libraries, ...modules].toSorted(([, a], [, b]) => Number(a.isLate) - Number(b.isLate));
}

/** The style sheets, those of libraries first, so that the page's own override them. */
async function styles(shorten: Shorten): Promise<readonly NamedFile[]> {
  const names = (await readdir(join(FOLDER, 'style'))).toSorted();
  const own = names.map(async (name): Promise<NamedFile> => {
    const type = TYPES[extname(name)];
    if (type === undefined) throw new Error(`web/style/${name} is neither of ${Object.keys(TYPES).join(', ')}`);
    const text = await readFile(join(FOLDER, 'style', name), 'utf8');
    return [`web/style/${name}`, { type, text: name.endsWith('.css') ? await shorten(text, 'css') : text, isLate: false }];
  });
  const library = { type: 'text/css; charset=utf-8', text: await readLibraryStyle(), isLate: false };
  return [['lib/uplot.css', library], ...(await Promise.all(own))];
}

function libraryPath(name: string): string {
  return `lib/${name.replaceAll('/', '-')}.js`;
}

/**
 * Only scripts from here run, and they may only talk to this server. The import map is the one script in the page itself. Nothing may turn
 * a text into markup or a script.
 */
function policyFor(importMap: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hashOf(importMap, 'base64')}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

function hashOf(text: string, encoding: 'base64' | 'base64url'): string {
  return createHash('sha256').update(text).digest(encoding);
}
