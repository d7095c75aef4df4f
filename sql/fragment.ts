/** The types a value can be bound as; every engine's dialect knows how to name them. */
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

export const text = (value: string): SqlParam => ({ type: 'VARCHAR', value });
export const textList = (value: readonly string[]): SqlParam => ({ type: 'VARCHAR[]', value });
export const int32 = (value: number): SqlParam => ({ type: 'INTEGER', value });
export const int64 = (value: number | bigint): SqlParam => ({ type: 'BIGINT', value: BigInt(value) });
export const uint64 = (value: bigint): SqlParam => ({ type: 'UBIGINT', value });

function isFragment(part: SqlFragment | SqlParam): part is SqlFragment {
  return 'chunks' in part;
}

/** Appends without spreading, because a call has room for some 100,000 arguments only. */
function append<T>(target: T[], added: readonly T[], from = 0): void {
  for (let index = from; index < added.length; index += 1) {
    target.push(added[index] as T);
  }
}

/** Template tag: fragments are spliced in, parameters are bound. A bare string cannot get in, so no value ever becomes SQL text. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (SqlFragment | SqlParam)[]): SqlFragment {
  const chunks: string[] = [strings[0] ?? ''];
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
    chunks[chunks.length - 1] += strings[index + 1] ?? '';
  }
  return { chunks, params };
}

/** SQL text that is written in this code base, such as an identifier from the table of columns. Never for anything from outside. */
export function trusted(textOfOurs: string): SqlFragment {
  return { chunks: [textOfOurs], params: [] };
}

/** The fragments one after the other with `separator`, SQL text of ours, between them. */
export function joinSql(fragments: readonly SqlFragment[], separator: string): SqlFragment {
  const chunks: string[] = [''];
  const params: SqlParam[] = [];
  for (const [index, fragment] of fragments.entries()) {
    const first = fragment.chunks[0] ?? '';
    chunks[chunks.length - 1] += index === 0 ? first : separator + first;
    append(chunks, fragment.chunks, 1);
    append(params, fragment.params);
  }
  return { chunks, params };
}
