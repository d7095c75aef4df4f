/** Reads the value of a column out of JSON. Throws where it is nothing of the kind. */
export type Column<T> = (value: unknown) => T;

/** The values of a row by its columns. */
export type Row<Columns extends readonly Column<unknown>[]> = {
  readonly [Nth in keyof Columns]: Columns[Nth] extends Column<infer T> ? T : never;
};

const DIGITS = /^-?\d{1,20}$/;

/** A whole number. One of 64 bits is a text in JSON. */
export function integer(value: unknown): number {
  const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) ? (number as number) : garbled(value, 'a whole number');
}

/** A whole number of up to 64 bits. */
export function bigInteger(value: unknown): bigint {
  return typeof value === 'string' && DIGITS.test(value) ? BigInt(value) : BigInt(integer(value));
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : garbled(value, 'a text');
}

/** A Bool, or a number that is 0 or 1. */
export function flag(value: unknown): boolean {
  return typeof value === 'boolean' ? value : value === 0 || value === 1 ? value === 1 : garbled(value, 'true or false');
}

export function optional<T>(column: Column<T>): Column<T | null> {
  return (value) => (value === null ? null : column(value));
}

export function list<T>(column: Column<T>): Column<readonly T[]> {
  return (value) => (Array.isArray(value) ? value.map(column) : garbled(value, 'a list'));
}

/** The values of these columns together: a row, or a tuple. */
export function values<const Columns extends readonly Column<unknown>[]>(columns: Columns): Column<Row<Columns>> {
  return (value) => {
    if (!Array.isArray(value) || value.length !== columns.length) {
      return garbled(value, `${columns.length} values`);
    }
    return columns.map((column, nth) => column(value[nth])) as unknown as Row<Columns>;
  };
}

function garbled(value: unknown, what: string): never {
  const shown = JSON.stringify(value) ?? 'nothing';
  throw new Error(`the answer has ${shown.length > 100 ? `${shown.slice(0, 100)}…` : shown} where the statement answers ${what}`);
}
