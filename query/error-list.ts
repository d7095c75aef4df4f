import type { FieldError } from './invalid-search-error.ts';
import { SEARCH_LIMITS } from './search-limits.ts';

/** Collects what is wrong with a request while it is read. Past the limit errors are only counted, so that the answer stays small. */
export class ErrorList {
  readonly #listed: FieldError[] = [];
  #unlisted = 0;

  add(field: string, message: string): void {
    if (this.#listed.length < SEARCH_LIMITS.listedErrors) {
      this.#listed.push({ field, message });
    } else {
      this.#unlisted += 1;
    }
  }

  get isEmpty(): boolean {
    return this.#listed.length === 0;
  }

  toArray(): readonly FieldError[] {
    return this.#unlisted === 0
      ? this.#listed
      : [...this.#listed, { field: '$', message: `has ${this.#unlisted} more errors that are not listed` }];
  }
}
