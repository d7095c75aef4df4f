import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pageMemoryBytes } from '../../src/feed/page-memory.ts';
import { feedWindowBudget } from '../../store/embedded/feed/feed-pages.ts';
import { MAX_PROSE_COLUMNS, markdownFiles, namedFiles, parseMarkdown, ROOT } from './markdown.ts';

const DOCUMENTS = markdownFiles().map((path) => {
  const markdown = readFileSync(join(ROOT, path), 'utf8');
  return { path, files: namedFiles(markdown, readdirSync(ROOT)), ...parseMarkdown(markdown) };
});
/** Measurements keep the names of their time, and limits.md names tests relative to `test/`. */
const NAMES_OTHER_FILES = /^docs\/(measurements\/.*|limits\.md)$|^test\/fixtures\//;
const ANCHORS = new Map(DOCUMENTS.map(({ path, anchors }) => [path, anchors]));

/** Returns what is wrong with a relative link of a document, or null. */
function brokenLink(path: string, link: string): string | null {
  const [target = '', anchor] = link.split('#', 2);
  const file = target === '' ? path : relative(ROOT, join(ROOT, dirname(path), decodeURI(target)));
  if (!existsSync(join(ROOT, file))) return `${link}: there is no ${file}`;
  if (anchor === undefined || ANCHORS.get(file)?.includes(anchor)) return null;
  return `${link}: ${file} has no heading for #${anchor}`;
}

test('all Markdown files of the project are looked at', () => {
  expect(DOCUMENTS.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'docs/limits.md', 'edge/README.md']));
});

describe.each(DOCUMENTS)('$path', ({ path, files, links, proseLines }) => {
  test('has no relative link to a file or heading that does not exist', () => {
    const relativeLinks = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(relativeLinks.map((link) => brokenLink(path, link)).filter((broken) => broken !== null)).toEqual([]);
  });

  test('names files that are there', () => {
    const missing = files.filter((file) => !existsSync(join(ROOT, file)));
    expect(NAMES_OTHER_FILES.test(path) ? [] : missing).toEqual([]);
  });

  test(`has prose lines of at most ${MAX_PROSE_COLUMNS} columns`, () => {
    expect(proseLines.filter((line) => line.length > MAX_PROSE_COLUMNS)).toEqual([]);
  });
});

test('README.md has at most 150 lines, and names every document in docs/', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  const documents = markdownFiles().filter((path) => dirname(path) === 'docs');
  expect(documents.filter((path) => !readme.includes(`](${path})`))).toEqual([]);
});

test('the memory of feeds is what docs/feed.md and docs/configuration.md say', () => {
  const MEBIBYTE = 1024 * 1024;
  // Three windows, three quarters of one while it is made, and the pages of all readers.
  const feedMb = (limitMb: number) => (3.75 * feedWindowBudget(limitMb).bytes + pageMemoryBytes(limitMb)) / MEBIBYTE;
  for (const limitMb of [256, 512, 768]) expect(feedMb(limitMb) / limitMb).toBeCloseTo(0.6, 1);
  expect(feedMb(1_048_576)).toBe(501);
  for (const path of ['docs/feed.md', 'docs/configuration.md']) {
    expect(readFileSync(join(ROOT, path), 'utf8').replaceAll('\n', ' ')).toMatch(/six tenths of (it|the limit),( and)? at most 501 MiB/);
  }
});
