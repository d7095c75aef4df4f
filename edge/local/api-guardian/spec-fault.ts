/** One thing wrong with a specification; `field` is `content` and the JSON pointer of the place within it. */
export interface SpecFieldError {
  readonly field: string;
  readonly message: string;
}

/** More of them help nobody. */
const MAX_SHOWN = 20;
const SHOWN_LENGTH = 80;

/** A specification that is refused. */
export class SpecFault extends Error {
  override readonly name = 'SpecFault';
  readonly errors: readonly SpecFieldError[];

  constructor(errors: readonly SpecFieldError[]) {
    super(errors.map(({ field, message }) => `${field}: ${message}`).join('; '));
    this.errors = errors.slice(0, MAX_SHOWN);
  }
}

/** The fault of one place, by its JSON pointer (`''` is the whole). */
export function faultAt(pointer: string, message: string): SpecFault {
  return new SpecFault([{ field: placeOf(pointer), message }]);
}

export function placeOf(pointer: string): string {
  return pointer === '' ? 'content' : `content#${pointer}`;
}

/** The pointer of a member of the place at `pointer` (RFC 6901). */
export function memberOf(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** A value as it is shown in a message, cut where it is long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`;
}
