import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EngineName, EngineOptions, EventSource } from './engine.ts';
import type { HostCall, HostReply, SearchOrder, TimedIngest, TimedSearch } from './host-messages.ts';

const HOST = fileURLToPath(new URL('engine-host.ts', import.meta.url));

/** As the launcher starts the program. */
const HOST_ENV = { UV_THREADPOOL_SIZE: '16', MALLOC_ARENA_MAX: '2', ...process.env };

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** An engine in a process of its own. Every call rejects when that process ends. */
export class EngineClient {
  readonly name: EngineName;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #ended: Promise<void>;
  #lastId = 0;

  private constructor(name: EngineName, options: EngineOptions) {
    this.name = name;
    this.#child = fork(HOST, [JSON.stringify({ name, ...options })], { env: HOST_ENV });
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

  static async open(name: EngineName, options: EngineOptions): Promise<EngineClient> {
    const client = new EngineClient(name, options);
    await new Promise((resolve, reject) => client.#pending.set(0, { resolve, reject }));
    return client;
  }

  version(): Promise<string> {
    return this.#call('version', null) as Promise<string>;
  }

  ingest(source: EventSource): Promise<TimedIngest> {
    return this.#call('ingest', source) as Promise<TimedIngest>;
  }

  /** Milliseconds until nothing was left to be merged. */
  settle(): Promise<number> {
    return this.#call('settle', null) as Promise<number>;
  }

  search(order: SearchOrder): Promise<TimedSearch> {
    return this.#call('search', order) as Promise<TimedSearch>;
  }

  async rest(): Promise<void> {
    await this.#call('rest', null);
  }

  diskBytes(): Promise<number> {
    return this.#call('diskBytes', null) as Promise<number>;
  }

  peakMemoryBytes(): Promise<number> {
    return this.#call('peakMemoryBytes', null) as Promise<number>;
  }

  /** The address it serves operation 1 at. */
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

/** Opens an engine, works with it and closes it, whatever happens. */
export async function withEngine<T>(name: EngineName, options: EngineOptions, work: (engine: EngineClient) => Promise<T>): Promise<T> {
  const engine = await EngineClient.open(name, options);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}
