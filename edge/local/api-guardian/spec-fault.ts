import { cut } from '../../shown-value.ts';

/** One thing wrong with a specification; `field` is `content` and the JSON pointer of the place within it. */
export interface SpecFieldError {
  readonly field: string;
  readonly message: string;
}

/** More of them help nobody. */
const MAX_SHOWN = 20;
/** A key may be as long as the whole specification. */
const MAX_PLACE_LENGTH = 500;

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
  return pointer === '' ? 'content' : `content#${cut(pointer, MAX_PLACE_LENGTH)}`;
}

/** The pointer of a member of the place at `pointer` (RFC 6901). */
export function memberOf(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
