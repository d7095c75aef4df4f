import type { SqlParam, SqlStatement } from '../../../sql/statement.ts';

/** Parameters are sent in the URL, which servers and what is before them take up to some length. */
const MAX_PARAMETERS = 500;
const MAX_CHARACTERS = 4 * 1024;

/** A statement as it is sent: its parameters beside it, or in its text. */
export interface BoundStatement {
  readonly text: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const PLACEHOLDER = /\{p(\d+):([A-Za-z0-9()]+)\}/g;

/**
 * Binds the parameters of a statement by their names, `p1` and so on. Those of a statement with many or long ones become literals of its
 * text, because a server refuses them otherwise. A statement has no text from outside but in its parameters, so the names stand for nothing
 * else.
 */
export function boundStatement({ text, params }: SqlStatement): BoundStatement {
  if (params.length <= MAX_PARAMETERS && params.reduce((sum, param) => sum + lengthOf(param), 0) <= MAX_CHARACTERS) {
    return { text, parameters: Object.fromEntries(params.map(({ value }, index) => [`p${index + 1}`, value])) };
  }
  const literal = (_: string, number: string, type: string) => literalOf(params[Number(number) - 1] as SqlParam, type);
  return { text: text.replaceAll(PLACEHOLDER, literal), parameters: {} };
}

function lengthOf({ value }: SqlParam): number {
  if (typeof value === 'string') {
    return value.length;
  }
  return typeof value === 'object' ? value.reduce((sum, one) => sum + one.length, 0) : 0;
}

function literalOf({ value }: SqlParam, type: string): string {
  if (typeof value === 'string') {
    return quoted(value);
  }
  // A list without elements has no type of its own.
  return `CAST(${typeof value === 'object' ? `[${value.map(quoted).join(',')}]` : value}, '${type}')`;
}

/** A text as a literal: https://clickhouse.com/docs/sql-reference/syntax#string. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
