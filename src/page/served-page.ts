import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundlePage } from './page-bundle.ts';

const FOLDER = join(import.meta.dirname, '../../web');

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

const TYPES = {
  script: 'text/javascript; charset=utf-8',
  style: 'text/css; charset=utf-8',
  icon: 'image/svg+xml; charset=utf-8',
} as const;

const ICON = 'icon.svg';

/** Where `web/index.html` gets its styles and scripts. */
const HEAD_MARK = '<!-- styles and scripts -->';

/** Only scripts from here run, and they may only talk to this server. Nothing may turn a text into markup or a script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Where the files of the page are. */
export const PAGE_PREFIX = '/page';

/** Gives the page. It is read once, for all who ask; where that fails, the next one who asks has it tried again. */
export type PageReader = () => Promise<ServedPage>;

export function pageReader(): PageReader {
  let reading: Promise<ServedPage> | undefined;
  return () => {
    reading ??= readServedPage().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

/** Reads the page from `web/`, `query/` and its libraries. */
async function readServedPage(): Promise<ServedPage> {
  const [bundled, template, icon] = await Promise.all([bundlePage(), readFile(join(FOLDER, 'index.html'), 'utf8'), readIcon()]);
  const files = [{ name: ICON, kind: 'icon', text: icon, isEntry: false, isLate: false } as const, ...bundled];
  const base = `${PAGE_PREFIX}/${createHash('sha256').update(JSON.stringify(files)).digest('base64url').slice(0, 12)}`;
  const pathOf = ({ name }: { readonly name: string }) => `${base}/${name}`;
  // A proxy may serve the page below a path of its own.
  const linkTo = (file: { readonly name: string }) => `.${pathOf(file)}`;
  const scripts = files.filter(({ kind }) => kind === 'script');
  const head = [
    `<link rel="icon" href="${linkTo({ name: ICON })}">`,
    ...files.filter(({ kind }) => kind === 'style').map((file) => `<link rel="stylesheet" href="${linkTo(file)}">`),
    // The browser is told of all files at once: it would otherwise find one after the other.
    ...scripts.map((file) => `<link rel="modulepreload" href="${linkTo(file)}"${file.isLate ? ' fetchpriority="low"' : ''}>`),
    ...scripts.filter(({ isEntry }) => isEntry).map((file) => `<script type="module" src="${linkTo(file)}"></script>`),
  ];
  return {
    html: Buffer.from(template.replace(HEAD_MARK, () => head.join('\n    '))),
    policy: POLICY,
    files: new Map(
      files.map((file) => [pathOf(file), { type: TYPES[file.kind], bytes: Buffer.from(file.text), gzip: gzipSync(file.text) }]),
    ),
  };
}

function readIcon(): Promise<string> {
  return readFile(join(FOLDER, 'style', ICON), 'utf8');
}
