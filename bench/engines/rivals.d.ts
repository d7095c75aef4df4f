/** The part of the package `autocannon` that is used. Only the package.json of this folder installs it, and types are checked without. */
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Seconds. */
    readonly timeout: number;
    readonly requests: readonly {
      readonly method: 'POST';
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }[];
  }

  interface Result {
    /** Seconds. */
    readonly duration: number;
    readonly '2xx': number;
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly latency: { readonly p50: number; readonly p99: number };
  }

  export default function autocannon(options: Options): Promise<Result>;
}

/** The part of the package `chdb` that is used. Only the package.json of this folder installs it, and types are checked without. */
declare module 'chdb' {
  export interface ChdbResult {
    text(): string;
  }

  export interface StreamInsert {
    readonly table: string;
    readonly values: AsyncIterable<Uint8Array>;
    readonly format: 'JSONEachRow';
    readonly maxChunkBytes: number;
    readonly settings: Readonly<Record<string, number>>;
  }

  export class Session {
    constructor(path: string);
    queryAsync(statement: string, options: { readonly format: string }): Promise<ChdbResult>;
    insert(order: StreamInsert): Promise<unknown>;
    close(): void;
  }

  export function drainPending(): Promise<void>;
}
