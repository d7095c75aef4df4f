/** The codes of {@link StoreError}. Any call may reject with `unavailable`, where what the store is on cannot be reached. */
export const STORE_ERROR_CODES = [
  'folder_in_use',
  'folder_unusable',
  'overloaded',
  'unavailable',
  'closed',
  'append_failed',
  'backup_failed',
  'backup_taken',
  'backup_elsewhere',
  'corrupt',
] as const;

export type StoreErrorCode = (typeof STORE_ERROR_CODES)[number];

/** The one error class of stores. `message` is one line for people that names the file or setting. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/**
 * A store that this program cannot use by its version or its settings until somebody changes one of them. Where that is known at the start,
 * the program ends with status 2.
 */
export class IncompatibleStore extends StoreError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/** Whether an error only says that what the store is on cannot be reached. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'unavailable';
}

/** The error of calls that are under way when the store closes, or come later. */
export function storeClosed(): StoreError {
  return new StoreError('closed', 'the store is closed');
}
