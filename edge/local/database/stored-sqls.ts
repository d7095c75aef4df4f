import { StatementError } from './statement-error.ts';

/** The SQL texts that a stream keeps by number. `find` and `store` throw StatementError that names the place. */
export interface StoredSqls {
  find(place: string, sqlId: number): string;
  /** `place` is the request's. */
  store(place: string, sqlId: number, sql: string): void;
  close(sqlId: number): void;
  /** UTF-8 of its texts. */
  sizeBytes(): number;
}

export interface StoredSqlsOptions {
  /** Texts of the stream. */
  readonly most: number;
  /** Characters of one text. */
  readonly longest: number;
  /** UTF-8 of the texts of all streams of the token. */
  readonly maxBytes: number;
  /** What these have together now. */
  readonly usedBytes: () => number;
}

export function makeStoredSqls({ most, longest, maxBytes, usedBytes }: StoredSqlsOptions): StoredSqls {
  const texts = new Map<number, string>();
  let sizeBytes = 0;
  return {
    find(place, id) {
      const sql = texts.get(id);
      if (sql === undefined) throw new StatementError('SQL_NOT_FOUND', `${place} is ${id}, and this stream has stored no such SQL text`);
      return sql;
    },
    store(place, id, text) {
      if (texts.has(id)) throw new StatementError('SQL_STORE_EXISTS', `${place}.sql_id is ${id}, which is in use; close_sql frees it`);
      if (texts.size >= most) throw new StatementError('SQL_STORE_TOO_MANY', `${place}: this stream stores ${most} SQL texts, and no more`);
      if (text.length > longest) {
        throw new StatementError('SQL_STORE_TOO_LARGE', `${place}.sql has ${text.length} characters; allowed: up to ${longest}`);
      }
      const [bytes, used] = [Buffer.byteLength(text), usedBytes()];
      if (used + bytes > maxBytes) {
        const stored = `${place}.sql has ${bytes} bytes, and the streams of this token store ${used} already`;
        throw new StatementError('SQL_STORE_TOO_LARGE', `${stored}; allowed: up to ${maxBytes} together`);
      }
      sizeBytes += bytes;
      texts.set(id, text);
    },
    close(id) {
      sizeBytes -= Buffer.byteLength(texts.get(id) ?? '');
      texts.delete(id);
    },
    sizeBytes: () => sizeBytes,
  };
}
