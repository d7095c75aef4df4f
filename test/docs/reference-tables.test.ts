import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DIMENSIONS, TEXT_FIELDS } from '../../query/event-fields.ts';
import { CONFIG_VARIABLES, variablesOf } from '../../src/config/config-table.ts';
import { PROBLEMS } from '../../src/http/problem.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A Markdown table with the given header; a bar inside a cell is escaped. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (text: string): string => `\`${text}\``;

const CONFIGURATION = table(
  ['Variable', 'Default', 'Allowed', 'About'],
  CONFIG_VARIABLES.map((variable) => [
    variablesOf(variable).map(code).join(', '),
    variable.default === null || variable.default === '' ? '' : code(variable.default),
    variable.allowed.replaceAll('*', '\\*'),
    variable.about,
  ]),
);

const ERRORS = table(
  ['`errorKey`', 'Status', 'Title'],
  Object.entries(PROBLEMS).map(([key, { status, title }]) => [code(key), String(status), title]),
);

/** Returns the table of a document that begins with this header line, or an empty text. */
function tableIn(document: string, header: string): string {
  const lines = readFileSync(join(ROOT, document), 'utf8').split('\n');
  const start = lines.indexOf(header);
  if (start < 0) return '';
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start, end < 0 ? undefined : end).join('\n');
}

test.each([
  ['docs/configuration.md', 'configuration variables', CONFIGURATION],
  ['docs/errors.md', 'error keys', ERRORS],
])('%s has exactly the %s that the code has', (document, _what, expected) => {
  const found = tableIn(document, expected.split('\n', 1)[0] ?? '');
  expect(found, `${document} is to have this table:\n\n${expected}\n`).toBe(expected);
});

test.each([
  ['docs/ingest.md', 'fields of an event', `${['logId', ...TEXT_FIELDS].map(code).join(', ')} and ${code('log')}`],
  ['docs/terminal.md', 'fields of a condition', `a field is one of ${DIMENSIONS.join(', ')} |`],
])('%s names the %s in their order', (document, _what, expected) => {
  expect(readFileSync(join(ROOT, document), 'utf8').replaceAll(/\s+/g, ' ')).toContain(expected);
});

test('docs/operating.md has every code of a reason of /readyz', () => {
  const codes = readFileSync(join(ROOT, 'src/routes/health.ts'), 'utf8').matchAll(/code: '([a-z_.]+)'/g);
  const rows = tableIn('docs/operating.md', '| code | status | what there is |').split('\n').slice(2);
  const told = rows.map((row) => /^\| `([a-z_.]+)` \|/.exec(row)?.[1]);
  expect(told.toSorted()).toEqual([...codes].map(([, found]) => found).toSorted());
});

test('metrics that documents name are there', () => {
  const metricsIn = (paths: readonly string[]) =>
    paths.flatMap((path) => readFileSync(join(ROOT, path), 'utf8').match(/\bshieldlog_[a-z_]+[a-z]\b/g) ?? []);
  const documents = globSync(['*.md', 'docs/*.md'], { cwd: ROOT });
  const there = new Set(metricsIn(globSync('src/**/*.ts', { cwd: ROOT })));
  expect([...new Set(metricsIn(documents))].filter((name) => !there.has(name))).toEqual([]);
  expect(documents).toContain('docs/operating.md');
});
