/** A block of commands in the README, and the output below it. */
export interface ReadmeBlock {
  readonly commands: string;
  /** Null where the README shows none. */
  readonly output: string | null;
  /** Where the output's lines stand, in lines of the file: first, and behind the last. */
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

/** The blocks in their order. A fence behind one of `sh` that is not `sh` itself shows its output. */
export function readmeBlocks(markdown: string): readonly ReadmeBlock[] {
  const fences = fencesOf(markdown);
  return fences.flatMap((fence, index) => {
    if (fence.language !== 'sh') return [];
    const next = fences[index + 1];
    const shown = next === undefined || next.language === 'sh' ? null : next;
    return [{ commands: fence.text, output: shown?.text ?? null, outputLines: shown?.lines ?? null }];
  });
}

/** The Markdown with other outputs, one for each block; undefined leaves a block's as it is. */
export function withOutputs(markdown: string, outputs: readonly (string | undefined)[]): string {
  const lines = markdown.split('\n');
  const blocks = readmeBlocks(markdown);
  for (const [index, { outputLines }] of [...blocks.entries()].reverse()) {
    const output = outputs[index];
    if (outputLines === null || output === undefined) continue;
    lines.splice(outputLines[0], outputLines[1] - outputLines[0], ...output.replace(/\n$/, '').split('\n'));
  }
  return lines.join('\n');
}

/** Of a JSON value: the names and types of all that is in it. */
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

/** How far into a line of text its punctuation is looked at: values behind that come and go. */
const TEXT_SHAPE_LENGTH = 12;

/** What stays the same from run to run: of JSON the names and types, of a line of text how it begins, with every word as `w`. */
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
