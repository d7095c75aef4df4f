import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const MAX_PROSE_COLUMNS = 140;

export interface MarkdownFile {
  /** Targets of the links and images, without those in code. */
  readonly links: readonly string[];
  /** The names of the headings in links, as GitHub makes them. */
  readonly anchors: readonly string[];
  /** Lines that are neither code nor of a table, and that could be broken. */
  readonly proseLines: readonly string[];
}

const FOLDERS_WITHOUT_DOCUMENTS = /(^|\/)(node_modules|data|\.git|\.cache|coverage|results)(\/|$)/;

/** Returns the paths of all Markdown files of the checkout, relative to it. */
export function markdownFiles(): readonly string[] {
  const found: string[] = [];
  const look = (folder: string): void => {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (FOLDERS_WITHOUT_DOCUMENTS.test(path)) continue;
      if (entry.isDirectory()) look(path);
      else if (path.endsWith('.md')) found.push(path);
    }
  };
  look('');
  return found.sort();
}

/** Reads links, headings and prose of Markdown. Headings with the same text are told apart as GitHub does it, by `-1`, `-2` and so on. */
export function parseMarkdown(markdown: string): MarkdownFile {
  const lines = withoutFences(markdown.split('\n'));
  const headings = lines.flatMap((line) => /^#+ (.*)$/.exec(line)?.[1] ?? []).map(slug);
  const anchors = headings.map((heading, index) => {
    const before = headings.slice(0, index).filter((other) => other === heading).length;
    return before === 0 ? heading : `${heading}-${before}`;
  });
  const text = lines.map((line) => line.replaceAll(/`[^`]*`/g, '`code`')).join('\n');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  // A line without a blank, such as an image or an address, cannot be broken.
  const proseLines = lines.filter((line) => !/^(\||#| {4}|!\[)/.test(line) && line.trim().includes(' '));
  return { links, anchors, proseLines };
}

function withoutFences(lines: readonly string[]): readonly string[] {
  let inFence = false;
  return lines.filter((line) => {
    const isFence = line.trimStart().startsWith('```');
    if (isFence) inFence = !inFence;
    return !isFence && !inFence;
  });
}

/** Makes the anchor of a heading: lower case, without punctuation, with hyphens for blanks. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/**
 * Returns the files and folders of the checkout that Markdown names between backticks or in commands: every path that begins with one of
 * the names in the checkout, and files in the checkout itself.
 */
export function namedFiles(markdown: string, namesInCheckout: readonly string[]): readonly string[] {
  const code = [...markdown.matchAll(/`([^`\n]+)`/g), ...markdown.matchAll(/^ {4}(.+)$/gm)].map(([, text = '']) => text);
  const words = code.flatMap((text) => text.split(/[\s()',;:]+/));
  const names = new Set(namesInCheckout);
  return [...new Set(words.filter((word) => names.has(word.split('/')[0] ?? '') && (word.includes('/') || word.includes('.'))))].sort();
}
