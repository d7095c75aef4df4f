import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A block of commands in a document, and the output below it. */
export interface DocumentBlock {
  readonly commands: string;
  /** Null where the document shows none. */
  readonly output: string | null;
  /** Line numbers of the output in the file, from 0: the first, and the one behind the last. */
  readonly outputLines: readonly [number, number] | null;
}

interface Fence {
  readonly language: string;
  readonly text: string;
  readonly lines: readonly [number, number];
}

function fencesOf(markdown: string): readonly Fence[] {
  const lines = markdown.split('\n');
  const fences: Fence[] = [];
  let start: number | null = null;
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('```')) continue;
    if (start === null) {
      start = index;
      continue;
    }
    const [from, to] = [start + 1, index];
    fences.push({ language: (lines[start] ?? '').slice(3), text: `${lines.slice(from, to).join('\n')}\n`, lines: [from, to] });
    start = null;
  }
  return fences;
}

/** A Markdown file with blocks of commands. */
export interface RunnableDocument {
  /** Relative to the checkout. */
  readonly path: string;
  readonly markdown: string;
  readonly blocks: readonly DocumentBlock[];
}

/** The README and the documents in `docs/` that have blocks of commands. */
export function runnableDocuments(root: string): readonly RunnableDocument[] {
  const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...names.sort().map((name) => `docs/${name}`)]
    .map((path) => ({ path, markdown: readFileSync(join(root, path), 'utf8') }))
    .map((document) => ({ ...document, blocks: documentBlocks(document.markdown) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** The blocks in their order. A fence after one of `sh` shows its output, unless it is of `sh` too. */
function documentBlocks(markdown: string): readonly DocumentBlock[] {
  const fences = fencesOf(markdown);
  return fences.flatMap((fence, index) => {
    if (fence.language !== 'sh') return [];
    const next = fences[index + 1];
    const shown = next === undefined || next.language === 'sh' ? null : next;
    return [{ commands: fence.text, output: shown?.text ?? null, outputLines: shown?.lines ?? null }];
  });
}

/** Replaces the outputs in the Markdown, one for each block; undefined leaves the output of a block as it is. */
export function withOutputs(markdown: string, outputs: readonly (string | undefined)[]): string {
  const lines = markdown.split('\n');
  const blocks = documentBlocks(markdown);
  for (const [index, { outputLines }] of [...blocks.entries()].reverse()) {
    const output = outputs[index];
    if (outputLines === null || output === undefined) continue;
    lines.splice(outputLines[0], outputLines[1] - outputLines[0], ...output.replace(/\n$/, '').split('\n'));
  }
  return lines.join('\n');
}

/** Returns the names and types of everything in a JSON value. */
function shapeOfJson(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.map(shapeOfJson);
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOfJson(member)]));
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only so many characters of a line of text are compared, because the values behind them differ from run to run. */
const TEXT_SHAPE_LENGTH = 12;

/** Returns what stays the same from run to run: names and types of JSON, and how a line of text begins, with `w` for each word. */
export function shapeOfOutput(text: string): unknown {
  const whole = jsonOrUndefined(text);
  if (whole !== undefined) return shapeOfJson(whole);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const json = jsonOrUndefined(line);
      return json === undefined
        ? line
            .trimStart()
            .replaceAll(/[A-Za-z0-9_-]+/g, 'w')
            .slice(0, TEXT_SHAPE_LENGTH)
        : shapeOfJson(json);
    });
}
