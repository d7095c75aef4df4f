/** Whether a value of JSON is one of a type of ClickHouse. */
type TypeCheck = (value: unknown) => boolean;

/** A column of an answer of the format JSONCompact. */
export interface AnsweredColumn {
  readonly name: string;
  readonly type: string;
}

const WHOLE_NUMBER = /^U?Int\d+$/;
const DIGITS = /^-?\d+$/;
/** A type and its arguments: https://clickhouse.com/docs/sql-reference/data-types. */
const TYPE = /^(\w+)(?:\((.*)\))?$/s;
/** The element of a tuple may have a name before its type. */
const NAMED = /^(?:`[^`]*`|\w+) (?=\w)/;

/**
 * Says of the rows of an answer with these columns what is wrong with one; undefined where nothing is. Whoever reads an answer takes its
 * values for what the statement asks for, so a whole number that is none would become NaN.
 */
export function rowCheckOf(columns: readonly AnsweredColumn[]): (row: unknown) => string | undefined {
  const checks = columns.map(({ type }) => checkOf(type));
  return (row) => {
    if (!Array.isArray(row) || row.length !== checks.length) {
      return `a row has other columns than the ${checks.length} that are named: ${shown(row)}`;
    }
    const wrong = checks.findIndex((check, nth) => !check(row[nth]));
    return wrong < 0 ? undefined : `${columns[wrong]?.name} is no ${columns[wrong]?.type}: ${shown(row[wrong])}`;
  };
}

function checkOf(type: string): TypeCheck {
  const [, name = '', inner = ''] = TYPE.exec(type) ?? [];
  switch (name) {
    case 'LowCardinality':
      return checkOf(inner);
    case 'Nullable': {
      const check = checkOf(inner);
      return (value) => value === null || check(value);
    }
    case 'Array': {
      const check = checkOf(inner);
      return (value) => Array.isArray(value) && value.every(check);
    }
    case 'Tuple': {
      const checks = elementsOf(inner).map((element) => checkOf(element.replace(NAMED, '')));
      return (value) => Array.isArray(value) && value.length === checks.length && checks.every((check, nth) => check(value[nth]));
    }
    case 'String':
      return (value) => typeof value === 'string';
    case 'Bool':
      return (value) => typeof value === 'boolean';
    default:
      return WHOLE_NUMBER.test(name) ? isWholeNumber : () => true;
  }
}

/** One of 64 bits or more is a text. */
function isWholeNumber(value: unknown): boolean {
  return typeof value === 'string' ? DIGITS.test(value) : Number.isSafeInteger(value);
}

/** The parts of a list of types, of which each may have commas in its own parentheses. */
function elementsOf(list: string): string[] {
  const elements = [''];
  let depth = 0;
  for (const character of list) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (character === ',' && depth === 0) {
      elements.push('');
    } else {
      elements.push(`${elements.pop()}${character}`);
    }
  }
  return elements.map((element) => element.trim());
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
