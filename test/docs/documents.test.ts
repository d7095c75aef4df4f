import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
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
