const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?)(\d+))?$/;

/** Whether a text is a decimal number, of any size. */
export const isDecimal = (text: string): boolean => /\d/.test(text) && DECIMAL.test(text);

/** A number with a point before its exponent, and a sign in it: YAML 1.1 reads `1e3` as a text. */
function readableDecimal(text: string): string {
  const [, sign, whole = '', fraction, powerSign = '', power] = DECIMAL.exec(text) ?? [];
  const isFraction = fraction !== undefined || power !== undefined;
  // YAML 1.1 reads digits behind a zero as octal ones.
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  const exponent = power === undefined ? '' : `e${powerSign || '+'}${power}`;
  return `${sign === '-' ? '-' : ''}${digits}${isFraction ? `.${fraction || '0'}` : ''}${exponent}`;
}

/** A number of a specification with all its digits, of which a double has some 16. A class, because a map may have any members. */
export class SpecNumber {
  /** As the specification has it, such as `1.0` or `0x1F`. */
  readonly source: string;
  /** The same number in digits that JSON and every version of YAML read alike. */
  readonly decimal: string;

  /** `value` is what the parser made of the source. A bigint is exact; a double is taken only where the source is no decimal number. */
  constructor(source: string, value: number | bigint) {
    const plain = source.replaceAll('_', '');
    this.source = source;
    this.decimal = readableDecimal(typeof value === 'number' && isDecimal(plain) ? plain : String(value));
  }

  /** The nearest finite double; not zero unless the number is. */
  toDouble(): number {
    const nearest = Number(this.decimal);
    const sign = this.decimal.startsWith('-') ? -1 : 1;
    if (!Number.isFinite(nearest)) return sign * Number.MAX_VALUE;
    return nearest === 0 && /^[^e]*[1-9]/.test(this.decimal) ? sign * Number.MIN_VALUE : nearest;
  }
}
