/** What can go wrong in the store, by code. */
export const STORE_ERROR_CODES = ['folder_in_use', 'folder_unusable', 'overloaded', 'closed', 'append_failed', 'corrupt'] as const;

export type StoreErrorCode = (typeof STORE_ERROR_CODES)[number];

/** The store's one error class; `message` is a clear line for people that names the place. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}
