import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONFIG_VARIABLES, variablesOf } from '../../src/config/config-table.ts';
import { PROBLEMS } from '../../src/http/problem.ts';

const path = join(import.meta.dirname, '../../README.md');

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

/** The table of the README that begins with this header line, as it stands there. */
function tableOfReadme(header: string): string {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const start = lines.indexOf(header);
  if (start < 0) return '';
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start, end < 0 ? undefined : end).join('\n');
}

describe('README.md', () => {
  test.each([
    ['configuration variables', CONFIGURATION],
    ['error keys', ERRORS],
  ])('has exactly the %s that the code has', (_what, expected) => {
    const found = tableOfReadme(expected.split('\n', 1)[0] ?? '');
    expect(found, `README.md is to have this table:\n\n${expected}\n`).toBe(expected);
  });
});
