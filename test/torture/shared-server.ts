import { mkdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { SeededRandom } from '../../bench/events/seeded-random.ts';
import { BreakableProxy } from '../clickhouse/server/breakable-proxy.ts';
import type { Fault } from '../clickhouse/server/faults.ts';
import { type ServerProcess, startServer } from '../clickhouse/server/server-process.ts';

/** The most that the clock steps ahead or back. */
const STEP_MS = 15 * 60_000;
const FEW_STATEMENTS = 4;
const INSERT = '^INSERT INTO';
const INSERT_EVENTS = '^INSERT INTO "?events';
const READ = '^SELECT';

/** Errors that a server in trouble answers. */
const REFUSALS = [
  { code: 159, name: 'TIMEOUT_EXCEEDED', message: 'Timeout exceeded' },
  { code: 202, name: 'TOO_MANY_SIMULTANEOUS_QUERIES', message: 'Too many simultaneous queries' },
  { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', message: 'Memory limit exceeded' },
  { code: 243, name: 'NOT_ENOUGH_SPACE', message: 'Cannot reserve 1.00 MiB, not enough space' },
  { code: 252, name: 'TOO_MANY_PARTS', message: 'Too many parts' },
] as const;

/** What happens to the server of a run, by what the figures call it. */
export const TROUBLES = [
  'kills of the server',
  'steps of its clock',
  'lost answers to inserts',
  'inserts that stored a part',
  'held inserts',
  'cut answers',
  'cut statements',
  'refused statements',
  'answers that are none',
  'times that it could not be reached',
] as const;

export type Trouble = (typeof TROUBLES)[number];

/** One ClickHouse server, behind a breakable proxy for each of the programs that share it. */
export class SharedServer {
  readonly #folder: string;
  readonly #random: SeededRandom;
  readonly #proxies: readonly BreakableProxy[];
  #process: ServerProcess;
  /** How often each trouble came. */
  readonly counts: Record<Trouble, number> = Object.fromEntries(TROUBLES.map((trouble) => [trouble, 0])) as Record<Trouble, number>;
  /** How far its clock went back at once, at most. */
  longestStepBackMs = 0;

  private constructor(folder: string, random: SeededRandom, server: ServerProcess, proxies: readonly BreakableProxy[]) {
    this.#folder = folder;
    this.#random = random;
    this.#process = server;
    this.#proxies = proxies;
  }

  static async start(folder: string, programs: number, random: SeededRandom): Promise<SharedServer> {
    mkdirSync(folder, { recursive: true });
    const server = await startServer(folder);
    const proxies = await Promise.all(Array.from({ length: programs }, () => BreakableProxy.open(server.url)));
    return new SharedServer(folder, random, server, proxies);
  }

  /** Where a program finds it. */
  urlOf(program: number): string {
    return (this.#proxies[program] as BreakableProxy).url;
  }

  /** Draws a trouble, and resolves when it has passed or will by itself. */
  async trouble(): Promise<void> {
    const random = this.#random;
    const trouble = TROUBLES[random.below(TROUBLES.length)] as Trouble;
    const proxy = this.#proxies[random.below(this.#proxies.length)] as BreakableProxy;
    this.counts[trouble] += 1;
    const few = (fault: Fault): void => void proxy.faults.add({ ...fault, times: 1 + random.below(FEW_STATEMENTS) });
    const refusal = REFUSALS[random.below(REFUSALS.length)] as (typeof REFUSALS)[number];
    switch (trouble) {
      case 'kills of the server':
        return await this.#killServer();
      case 'steps of its clock':
        return this.#stepClock();
      case 'lost answers to inserts':
        return few({ kind: 'cut-after', matching: INSERT });
      case 'inserts that stored a part':
        return few({ kind: 'store-part', where: `"timestamp" % 3 = ${random.below(3)}`, matching: INSERT_EVENTS, ...refusal });
      case 'held inserts':
        return await this.#holdInsert(proxy);
      case 'cut answers':
        return few({ kind: 'cut-answer', afterBytes: random.below(20_000), matching: READ });
      case 'cut statements':
        return few({ kind: 'cut-before' });
      case 'refused statements':
        return few({ kind: 'refuse', ...refusal });
      case 'answers that are none':
        return few({ kind: 'answer', text: ['', 'ok', '{}', '<html></html>'][random.below(4)] as string });
      case 'times that it could not be reached':
        await proxy.goAway();
        await delay(random.below(5_000));
        return await proxy.comeBack();
      default:
        return trouble satisfies never;
    }
  }

  /** Ends what is wrong with the server, but for its clock, which stays where it is. */
  async mend(): Promise<void> {
    for (const proxy of this.#proxies) {
      proxy.faults.release();
      await proxy.comeBack();
    }
  }

  /** Ends it. Where its folder is to be looked at, that stays. */
  async stop(keepsFolder: boolean): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await (keepsFolder ? this.#process.kill() : this.#process.stop());
  }

  async #killServer(): Promise<void> {
    await this.#process.kill();
    await delay(this.#random.below(3_000));
    this.#process = await startServer(this.#folder, { port: Number(new URL(this.#process.url).port) });
  }

  /** The server has one clock, whoever asks it. */
  #stepClock(): void {
    const offsetMs = this.#random.below(2 * STEP_MS) - STEP_MS;
    this.longestStepBackMs = Math.max(this.longestStepBackMs, (this.#proxies[0]?.clockOffsetMs ?? 0) - offsetMs);
    for (const proxy of this.#proxies) proxy.clockOffsetMs = offsetMs;
  }

  /** Holds an insert of events at some point for a while, if one comes. Inside, the events get their sequences before they are there. */
  async #holdInsert({ faults }: BreakableProxy): Promise<void> {
    const at = (['before', 'inside', 'inside', 'after'] as const)[this.#random.below(4)] as 'before';
    const fault = faults.add({ kind: 'hold', at, matching: INSERT_EVENTS, times: 1 });
    await delay(this.#random.below(6_000));
    faults.release(fault);
  }
}
