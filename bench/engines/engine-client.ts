import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EngineName, EngineOptions, EventSource, HostedName } from './engine.ts';

/** A call of the harness to the process of an engine. */
export interface HostCall {
  /** From 1. The host replies to 0 when the engine is open. */
  readonly id: number;
  readonly kind: 'version' | 'ingest' | 'settle' | 'search' | 'explore' | 'diskBytes' | 'peakMemoryBytes' | 'listen' | 'close';
  readonly order: unknown;
}

export type HostReply = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

export interface SearchOrder {
  readonly zone: number;
  readonly body: object;
  readonly withAnswer: boolean;
}

export interface TimedIngest {
  /** Until every event was stored and searchable. */
  readonly elapsedMs: number;
  /** CPU time of the process on all cores. */
  readonly cpuMs: number;
}

export interface TimedSearch {
  readonly elapsedMs: number;
  /** The text of the response, if the order asked for it. */
  readonly answer?: string;
}

const HOST = fileURLToPath(new URL('engine-host.ts', import.meta.url));

/** The environment in which the launcher starts the program. */
const HOST_ENV = { UV_THREADPOOL_SIZE: '16', MALLOC_ARENA_MAX: '2', ...process.env };

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** An engine in a separate process. Every call rejects when that process ends. */
export class EngineClient<Name extends HostedName = EngineName> {
  readonly name: Name;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #ended: Promise<void>;
  #lastId = 0;

  private constructor(name: Name, options: EngineOptions, host: string) {
    this.name = name;
    this.#child = fork(host, [JSON.stringify({ name, ...options })], { env: HOST_ENV });
    this.#child.on('message', (message) => this.#settle(message as HostReply));
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        for (const { reject } of this.#pending.values()) {
          reject(new Error(`the process of ${name} ended with ${code ?? signal}`));
        }
        resolve();
      });
    });
  }

  /** @param host the file of the host's program, of this checkout or of another one */
  static async open<Name extends HostedName>(name: Name, options: EngineOptions, host = HOST): Promise<EngineClient<Name>> {
    const client = new EngineClient(name, options, host);
    await new Promise((resolve, reject) => client.#pending.set(0, { resolve, reject }));
    return client;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  version(): Promise<string> {
    return this.#call('version', null) as Promise<string>;
  }

  ingest(source: EventSource): Promise<TimedIngest> {
    return this.#call('ingest', source) as Promise<TimedIngest>;
  }

  /** Resolves with the milliseconds until nothing was left to be merged. */
  settle(): Promise<number> {
    return this.#call('settle', null) as Promise<number>;
  }

  search(order: SearchOrder): Promise<TimedSearch> {
    return this.#call('search', order) as Promise<TimedSearch>;
  }

  /** Asks a question of the explorer. */
  explore(order: SearchOrder): Promise<TimedSearch> {
    return this.#call('explore', order) as Promise<TimedSearch>;
  }

  diskBytes(): Promise<number> {
    return this.#call('diskBytes', null) as Promise<number>;
  }

  peakMemoryBytes(): Promise<number> {
    return this.#call('peakMemoryBytes', null) as Promise<number>;
  }

  /** Resolves with the address at which it serves operation 1. */
  listen(): Promise<string> {
    return this.#call('listen', null) as Promise<string>;
  }

  async close(): Promise<void> {
    await this.#call('close', null);
    await this.#ended;
  }

  #call(kind: HostCall['kind'], order: unknown): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#child.send({ id, kind, order } satisfies HostCall, (error) => error === null || reject(error));
    });
  }

  #settle(reply: HostReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if ('error' in reply) {
      pending?.reject(new Error(`${this.name}: ${reply.error}`));
    } else {
      pending?.resolve(reply.value);
    }
  }
}

/** Opens an engine, runs `work` with it and closes it, also after an error. `host` is that of {@link EngineClient.open}. */
export async function withEngine<T>(
  name: EngineName,
  options: EngineOptions,
  work: (engine: EngineClient) => Promise<T>,
  host?: string,
): Promise<T> {
  const engine = await EngineClient.open(name, options, host);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** The version of each engine, as it reports it. */
export async function engineVersions(names: readonly EngineName[]): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const name of names) {
    const dataDir = await mkdtemp(join(tmpdir(), `${name}-`));
    const options = { dataDir, memoryLimitMb: 256 };
    versions[name] = await withEngine(name, options, (engine) => engine.version()).finally(() => rm(dataDir, { recursive: true }));
  }
  return versions;
}
