/** What the store tells the operator; pino's logger fits. */
export interface StoreLogger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export const silentLogger: StoreLogger = { info: () => {}, warn: () => {}, error: () => {} };
