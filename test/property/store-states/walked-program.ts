import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cursorText, feedPosition } from '../../../store/embedded/feed/feed-positions.ts';
import type { StoreStats } from '../../../store/event-store.ts';
import type { RawEvent } from '../../oracle/raw-event.ts';
import type { WalkedCall, WalkedReply, WalkedRequest } from './walked-process.ts';

const PROCESS = fileURLToPath(new URL('walked-process.ts', import.meta.url));

/** The bytes of a cursor that say of which start of the store it is, and of which folder. */
const EPOCH_AT = 1;
const FOLDER_AT = 5;

/**
 * A program with its store in a process of its own, so that it answers while the oracle works in this one. Its readers ask it over HTTP;
 * only its events, flushes, merges and restarts come from here.
 */
export class WalkedProgram {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;
  #url = '';
  #epoch = 0;
  #folder = 0;

  private constructor(dataDir: string) {
    this.#process = fork(PROCESS, [dataDir], { serialization: 'advanced', execArgv: [] });
    this.#process.on('message', (reply: WalkedReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ('error' in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply.value);
    });
    this.#process.once('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the program has ended with ${code ?? signal}`));
    });
  }

  static async in(dataDir: string): Promise<WalkedProgram> {
    const program = new WalkedProgram(dataDir);
    await program.#start();
    return program;
  }

  get url(): string {
    return this.#url;
  }

  /** The cursor of a reader that has the events up to this one. */
  cursorBehind(sequence: number): string {
    return cursorText(feedPosition(BigInt(sequence)), this.#epoch, this.#folder);
  }

  async append(events: readonly RawEvent[]): Promise<void> {
    await this.#call({ kind: 'append', events });
  }

  async flush(): Promise<void> {
    await this.#call({ kind: 'flush' });
  }

  async compact(): Promise<void> {
    await this.#call({ kind: 'compact' });
  }

  async stats(): Promise<StoreStats> {
    return (await this.#call({ kind: 'stats' })) as StoreStats;
  }

  async restart(): Promise<void> {
    await this.#call({ kind: 'stop' });
    await this.#start();
  }

  async end(): Promise<void> {
    const ended = once(this.#process, 'exit');
    await this.#call({ kind: 'stop' });
    this.#process.disconnect();
    await ended;
  }

  async #start(): Promise<void> {
    const { url, cursor } = (await this.#call({ kind: 'start' })) as { readonly url: string; readonly cursor: string };
    this.#url = url;
    const bytes = Buffer.from(cursor, 'base64url');
    this.#epoch = bytes.readUInt32BE(EPOCH_AT);
    this.#folder = bytes.readUInt16BE(FOLDER_AT);
  }

  async #call(call: WalkedCall): Promise<unknown> {
    this.#calls += 1;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#calls, waiting);
    this.#process.send({ id: this.#calls, call } satisfies WalkedRequest);
    return await waiting.promise;
  }
}
