/** The types a value can be bound as; a dialect knows how its engine names them. */
export type SqlType = 'VARCHAR' | 'VARCHAR[]' | 'INTEGER' | 'BIGINT' | 'UBIGINT';

export interface SqlParam {
  readonly type: SqlType;
  readonly value: string | readonly string[] | number | bigint;
}

/** A piece of SQL as a value: `chunks` has one element more than `params`, and a parameter stands between each two. */
export interface SqlFragment {
  readonly chunks: readonly string[];
  readonly params: readonly SqlParam[];
}

/** SQL that can be run: text with a placeholder for each parameter, and the parameters in their order. */
export interface SqlStatement {
  readonly text: string;
  readonly params: readonly SqlParam[];
}

export const text = (value: string): SqlParam => ({ type: 'VARCHAR', value });
export const textList = (value: readonly string[]): SqlParam => ({ type: 'VARCHAR[]', value });
export const int32 = (value: number): SqlParam => ({ type: 'INTEGER', value });
export const int64 = (value: number | bigint): SqlParam => ({ type: 'BIGINT', value: BigInt(value) });
export const uint64 = (value: bigint): SqlParam => ({ type: 'UBIGINT', value });

/**
 * Template tag: fragments are spliced in, parameters are bound. It takes no bare strings, so no value ever becomes SQL text. A line break
 * with the blanks around it becomes one blank.
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (SqlFragment | SqlParam)[]): SqlFragment {
  const chunks: string[] = [onOneLine(strings[0])];
  const params: SqlParam[] = [];
  for (const [index, part] of parts.entries()) {
    if (isFragment(part)) {
      chunks[chunks.length - 1] += part.chunks[0] ?? '';
      append(chunks, part.chunks, 1);
      append(params, part.params);
    } else {
      chunks.push('');
      params.push(part);
    }
    chunks[chunks.length - 1] += onOneLine(strings[index + 1]);
  }
  return { chunks, params };
}

function onOneLine(template = ''): string {
  return template.includes('\n') ? template.replaceAll(/\s*\n\s*/g, ' ') : template;
}

function isFragment(part: SqlFragment | SqlParam): part is SqlFragment {
  return 'chunks' in part;
}

/** Appends in a loop, because a call takes only some 100,000 arguments. */
function append<T>(target: T[], added: readonly T[], from = 0): void {
  for (let index = from; index < added.length; index += 1) {
    target.push(added[index] as T);
  }
}

/** SQL text that is written in this code base, such as an identifier from the table of columns. Never for anything from outside. */
export function trusted(textOfOurs: string): SqlFragment {
  return { chunks: [textOfOurs], params: [] };
}

export const NO_SQL = trusted('');

/** The fragments one after the other, separated by `separator`, SQL text of ours. */
export function joinSql(fragments: readonly (SqlFragment | SqlParam)[], separator = ', '): SqlFragment {
  const chunks: string[] = [''];
  const params: SqlParam[] = [];
  for (const [index, part] of fragments.entries()) {
    const fragment = isFragment(part) ? part : sql`${part}`;
    const first = fragment.chunks[0] ?? '';
    chunks[chunks.length - 1] += index === 0 ? first : separator + first;
    append(chunks, fragment.chunks, 1);
    append(params, fragment.params);
  }
  return { chunks, params };
}

/** The statement of a fragment. `placeholder` writes the nth parameter, from 1, for the engine. */
export function renderSql(
  fragment: SqlFragment,
  { placeholder }: { readonly placeholder: (param: SqlParam, index: number) => string },
): SqlStatement {
  let statement = fragment.chunks[0] ?? '';
  for (const [index, param] of fragment.params.entries()) {
    statement += placeholder(param, index + 1) + (fragment.chunks[index + 1] ?? '');
  }
  return { text: statement, params: fragment.params };
}

/**
 * A text to select, with a mark before it. DuckDB's driver for Node decodes strings with a `TextDecoder`, which drops a byte order mark
 * (U+FEFF) at the start; after the mark it is not at the start. NULL stays NULL.
 */
export function markText(value: SqlFragment): SqlFragment {
  return sql`'.' || ${value}`;
}

/** The text that was marked by {@link markText}. */
export function unmarkText(marked: string): string {
  return marked.slice(1);
}
