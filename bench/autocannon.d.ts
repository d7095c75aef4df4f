/** What is used of the package `autocannon`, which only this folder's own package.json installs: types must be there without it. */
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
