import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './markdown.ts';

const ARCHITECTURE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

/** A row of a walk: `| 1 | `function` | `file` | what it does |`. A method has the name of its class before a dot. */
const STEP = /^\| (\d+) \| `([\w.#]+)` \| `([^`]+)` \|/;

interface Step {
  readonly number: number;
  readonly name: string;
  readonly file: string;
}

/** The steps of the table under a heading of the document. */
function walkUnder(heading: string): readonly Step[] {
  const [, section = ''] = ARCHITECTURE.split(`## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  return text.split('\n').flatMap((line) => {
    const [, number, name = '', file = ''] = STEP.exec(line) ?? [];
    return number === undefined ? [] : [{ number: Number(number), name, file }];
  });
}

/** The rows of the tables of what decides what, under their headings. */
function decisions(): readonly { readonly question: string; readonly answer: string }[] {
  const [, section = ''] = ARCHITECTURE.split('## Where things are decided\n');
  const rows = section.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.flatMap(([, question = '', answer = '']) => (/^(|Question|---)$/.test(question) ? [] : [{ question, answer }]));
}

/** Whether the source defines a function, a class or, for `Class.method`, both. */
function defines(source: string, name: string): boolean {
  const [owner, method] = name.split('.');
  if (method === undefined) return new RegExp(`\\b(function\\*?|class|const) ${owner}\\b`).test(source);
  const hasMethod = new RegExp(`^ +(static )?(async )?\\*?${method}(<.*>)?\\(`, 'm').test(source);
  return hasMethod && new RegExp(`\\bclass ${owner}\\b`).test(source);
}

describe.each([
  ['One search, function by function', 14],
  ['One event, function by function', 20],
])('%s', (heading, maxSteps) => {
  const steps = walkUnder(heading);

  test(`is at most ${maxSteps} steps, in their order`, () => {
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.length).toBeLessThanOrEqual(maxSteps);
    expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => index + 1));
  });

  test('names functions that are in their files', () => {
    const missing = steps.filter(({ name, file }) => !defines(readFileSync(join(ROOT, file), 'utf8'), name));
    expect(missing).toEqual([]);
  });
});

describe('Where things are decided', () => {
  const rows = decisions();

  test('has questions, each once', () => {
    const questions = rows.map(({ question }) => question);
    expect(questions.length).toBeGreaterThan(80);
    expect(questions.filter((question) => !question.endsWith('?'))).toEqual([]);
    expect(questions).toEqual([...new Set(questions)]);
  });

  test.each(rows)('$question', ({ question, answer }) => {
    const code = [...answer.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
    const files = code.filter((text) => text.includes('/') && text.includes('.'));
    const names = code.filter((text) => /^\w+$/.test(text));
    expect(files.length > 0 || answer.startsWith('[CONTRIBUTING.md]'), 'a file or the list of files').toBe(true);
    const sources = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
    expect(names.filter((name) => !question.includes(name) && !sources.some((source) => source.includes(name)))).toEqual([]);
  });
});
