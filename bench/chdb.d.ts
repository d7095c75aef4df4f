/** What is used of the package `chdb`, which only this folder's own package.json installs: types must be there without it. */
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
