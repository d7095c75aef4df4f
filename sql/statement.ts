import type { SqlFragment, SqlParam } from './fragment.ts';

/** SQL ready to be run: text with numbered placeholders, and what is bound to them, in that order. */
export interface SqlStatement {
  readonly text: string;
  readonly params: readonly SqlParam[];
}

/** `placeholder` writes the place of the nth parameter (from 1) in an engine's way. */
export function renderSql(fragment: SqlFragment, placeholder: (param: SqlParam, position: number) => string): SqlStatement {
  let statement = fragment.chunks[0] ?? '';
  for (const [index, param] of fragment.params.entries()) {
    statement += placeholder(param, index + 1) + (fragment.chunks[index + 1] ?? '');
  }
  return { text: statement, params: fragment.params };
}
