import { readFileSync } from 'node:fs';
import { parseAst } from 'vitest/node';

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** The name that a callee begins with, and what is asked of it: `test.skipIf(no)` is `test` and `skipIf`. */
function calleeOf(node: unknown): readonly string[] {
  if (!isNode(node)) return [];
  if (node.type === 'Identifier') return [String(node['name'])];
  if (node.type === 'MemberExpression') return [...calleeOf(node['object']), ...calleeOf(node['property'])];
  if (node.type === 'CallExpression') return calleeOf(node['callee']);
  return node.type === 'TaggedTemplateExpression' ? calleeOf(node['tag']) : [];
}

function textOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : undefined;
}

/** The values of the file's constants, by name. */
type Tables = ReadonlyMap<string, unknown>;

function tablesOf(body: readonly unknown[]): Tables {
  const declared = body.flatMap((node) => (isNode(node) && node.type === 'VariableDeclaration' ? (node['declarations'] as Node[]) : []));
  return new Map(declared.map(({ id, init }) => [String((id as Node)['name']), init]));
}

/** The texts that a table has for the first `%s` of a title: `test.each([['a', 1], ['b', 2]])`. */
function rowsOf(callee: unknown, tables: Tables): readonly string[] {
  const [given] = isNode(callee) && callee.type === 'CallExpression' ? (callee['arguments'] as readonly unknown[]) : [];
  const table = isNode(given) && given.type === 'Identifier' ? tables.get(String(given['name'])) : given;
  if (!isNode(table) || table.type !== 'ArrayExpression') return [];
  const firsts = (table['elements'] as readonly unknown[]).map((row) =>
    isNode(row) && row.type === 'ArrayExpression' ? (row['elements'] as readonly unknown[])[0] : row,
  );
  return firsts.map(textOf).filter((text) => text !== undefined);
}

/** Returns the titles of the test calls within `node`. `outer` has the titles of the `describe` calls around it. */
function titlesIn(node: unknown, outer: readonly string[], tables: Tables): readonly string[] {
  if (Array.isArray(node)) return node.flatMap((each) => titlesIn(each, outer, tables));
  if (!isNode(node)) return [];
  const [first, ...asked] = node.type === 'CallExpression' ? calleeOf(node['callee']) : [];
  const title = textOf((node['arguments'] as readonly unknown[] | undefined)?.[0]);
  if (title !== undefined && !asked.some((each) => each === 'skip' || each === 'todo')) {
    if (first === 'test') {
      const rows = rowsOf(node['callee'], tables).map((row) => title.replace('%s', () => row));
      return [...new Set([title, ...rows])].map((each) => [...outer, each].join(' > '));
    }
    if (first === 'describe') return Object.values(node).flatMap((each) => titlesIn(each, [...outer, title], tables));
  }
  return Object.values(node).flatMap((each) => titlesIn(each, outer, tables));
}

/**
 * The titles of a file's tests that are run, as they stand there, each behind those of the `describe` that it is in:
 * `a list > has an end`. A test with a table has one with its `%s`, and one for each row that begins with a text.
 */
export function testTitles(file: string): readonly string[] {
  const { body } = parseAst(readFileSync(file, 'utf8'), { lang: 'ts' }, file);
  return titlesIn(body, [], tablesOf(body));
}
