import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './markdown.ts';

const ARCHITECTURE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const DECISIONS = readFileSync(join(ROOT, 'docs/where-things-are-decided.md'), 'utf8');

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
  const [text = ''] = section.split(/\n## |\n\| Step \| Beside it/);
  return text.split('\n').flatMap((line) => {
    const [, number, name = '', file = ''] = STEP.exec(line) ?? [];
    return number === undefined ? [] : [{ number: Number(number), name, file }];
  });
}

/** The rows of the tables of what decides what, under their headings. */
function decisions(): readonly { readonly question: string; readonly answer: string }[] {
  const rows = DECISIONS.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.flatMap(([, question = '', answer = '']) => (/^(|Question|---)$/.test(question) ? [] : [{ question, answer }]));
}

/** The functions beside the steps of a walk, with their files. */
function besideSteps(heading: string): readonly { readonly step: number; readonly names: readonly string[]; readonly file: string }[] {
  const [, section = ''] = ARCHITECTURE.split(`## ${heading}\n`);
  const [, table = ''] = section.split('| Step | Beside it |');
  return [...table.matchAll(/^\| (\d+) \| (`[^|]+`) \| `([^`]+)` \|/gm)].map(([, step, names = '', file = '']) => ({
    step: Number(step),
    names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    file,
  }));
}

/** Whether the source defines a function, a class or, for `Class.method`, both. */
function defines(source: string, name: string): boolean {
  return textOf(source, name) !== undefined || new RegExp(`\\b(class|const) ${name}\\b`).test(source);
}

/** The text of a function or, for `Class.method`, of the constructor and the method. Undefined: the source does not define it. */
function textOf(source: string, name: string): string | undefined {
  const [owner = '', method] = name.split('.');
  const whole = new RegExp(`^(export )?(async )?${method === undefined ? 'function\\*?' : 'class'} ${owner}\\b.*?^}`, 'ms').exec(
    source,
  )?.[0];
  if (method === undefined || whole === undefined) return whole;
  const text = new RegExp(`^  (static )?(async )?\\*?${method}(<[^>]*>)?\\(.*?^  }`, 'ms').exec(whole)?.[0];
  return text && `${/^ {2}constructor\(.*?^ {2}}/ms.exec(whole)?.[0] ?? ''}${text}`;
}

/** The functions that no function before them names, though they are called by one of them. */
function notNamedBefore(steps: readonly Step[]): readonly string[] {
  const texts = steps.map(({ name, file }) => textOf(sourceOf(file), name) ?? '');
  const isNamed = ({ name }: Step, before: readonly string[]) => before.some((text) => text.includes(`${name.split('.').at(-1)}(`));
  return steps.filter((step, index) => index > 0 && !isNamed(step, texts.slice(0, index))).map(({ name }) => name);
}

const sourceOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const SEARCH = 'One search, function by function';
const EVENT = 'One event, function by function';

describe.each([
  [SEARCH, 14],
  [EVENT, 20],
])('%s', (heading, maxSteps) => {
  const steps = walkUnder(heading);

  test(`is at most ${maxSteps} steps, in their order`, () => {
    expect(steps.length).toBeGreaterThan(5);
    expect(steps.length).toBeLessThanOrEqual(maxSteps);
    expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => index + 1));
  });

  test('names functions that are in their files', () => {
    expect(steps.filter(({ name, file }) => !defines(sourceOf(file), name))).toEqual([]);
  });
});

describe(EVENT, () => {
  const steps = walkUnder(EVENT);

  test('has functions that are called by one before them; a thread starts with one', () => {
    expect(notNamedBefore(steps)).toEqual(['flushJournals']);
  });

  test('names what is beside its steps, in their order', () => {
    const beside = besideSteps(EVENT);
    expect(beside.length).toBeGreaterThan(10);
    expect(beside.map(({ step }) => step)).toEqual(beside.map(({ step }) => step).sort((a, b) => a - b));
    expect(beside.flatMap(({ names, file }) => names.filter((name) => textOf(sourceOf(file), name) === undefined))).toEqual([]);
    const isCalled = (step: number, name: string) => {
      const { name: function_ = '', file = '' } = steps[step - 1] ?? {};
      return textOf(sourceOf(file), function_)?.includes(`${name.split('.').at(-1)}(`) === true;
    };
    expect(beside.flatMap(({ step, names }) => names.filter((name) => !isCalled(step, name)))).toEqual([]);
  });
});

describe('What is remembered, and what waits', () => {
  const [, text = ''] = /\n## What is remembered, and what waits\n(.*?)\n## /s.exec(ARCHITECTURE) ?? [];
  const files = [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = '']) => file);

  test('has each cache, memory, queue, pool and slots of the program, with its file', () => {
    const kinds = /class (\w*(?:Cache|Memory|Budget|Queue|Turns|Semaphore|Pool|Slots))\b/g;
    const sources = globSync('{query,sql,work,store,ingest,alerts,edge,src}/**/*.ts', { cwd: ROOT }).filter(
      (file) => !file.includes('node_modules'),
    );
    const classesOf = (file: string) => readFileSync(join(ROOT, file), 'utf8').matchAll(kinds);
    const classes = sources.flatMap((file) => [...classesOf(file)].map(([, name = '']) => ({ name, file })));
    expect(classes.length).toBeGreaterThan(15);
    expect(classes.filter(({ name, file }) => !text.includes(`\`${name}\``) || !files.includes(file))).toEqual([]);
  });

  test('names classes that are in its files', () => {
    const names = [...text.matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => name);
    const sources = files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
    expect(names.filter((name) => !new RegExp(`class ${name}\\b`).test(sources))).toEqual([]);
  });
});

describe('Every search, on its longest way', () => {
  const [, section = ''] = ARCHITECTURE.split('## Every search, on its longest way\n');
  const [text = ''] = section.split('\n## ');
  const rows = [...text.matchAll(/^\| ([^|]+) \| (`[^|]+) \| (\d+) \| ([^|]*)\|$/gm)].map(
    ([, search = '', functions = '', number, files = '']) => {
      const code = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one);
      return { search, names: code(functions), number: Number(number), files: code(files) };
    },
  );

  test('has all kinds of searches', () => {
    expect(rows).toHaveLength(11);
  });

  test.each(rows)('$search', ({ names, number, files }) => {
    const known = [...walkUnder(SEARCH).map(({ file }) => file), ...files];
    const fileOf = (name: string) => known.find((file) => textOf(sourceOf(file), name) !== undefined);
    expect(names.filter((name) => fileOf(name) === undefined)).toEqual([]);
    expect(notNamedBefore(names.map((name, index) => ({ number: index, name, file: fileOf(name) as string })))).toEqual([]);
    expect(names).toHaveLength(number);
    expect(number).toBeLessThanOrEqual(15);
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
    const sources = files.map(sourceOf);
    expect(names.filter((name) => !question.includes(name) && !sources.some((source) => source.includes(name)))).toEqual([]);
  });
});
