import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_OPTIONS } from '../../scripts/node-options.mjs';
import { residentClickhouseMb, residentMemoryMb } from '../../store/memory-shares.ts';
import { type FreshDatabase, freshDatabase } from '../clickhouse/engine.ts';
import { eventually } from '../fixtures/eventually.ts';
import { programEnv } from '../fixtures/program-env.ts';
import { TEST_STORE } from '../fixtures/test-store.ts';
import { DefectLog } from '../property/raw-bytes/defect-log.ts';
import type { ProbeReply, ProbeRequest, Readings } from './probe.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const PROBE = fileURLToPath(new URL('./probe.ts', import.meta.url));

export interface ProgramOptions {
  /** How many access keys there are, each of which opens all zones. */
  readonly keys: number;
  readonly deadlineMs?: number | undefined;
  /** Absent: the default. */
  readonly memoryLimitMb?: number;
  /** The text of a mapping, whose name is `own`. */
  readonly mapping?: string;
}

export const keyOf = (caller: number): string => `key-of-caller-${String(caller).padStart(6, '0')}`;

/** Whether the program has its events in ClickHouse, which has processes and memory of its own. */
export const IS_ON_CLICKHOUSE = TEST_STORE !== 'embedded';

/** What the program may take with this MEMORY_LIMIT_MB, in MiB. */
export const residentMb = IS_ON_CLICKHOUSE ? residentClickhouseMb : residentMemoryMb;

/** The real program in a process of its own, with the settings that it has by itself, and with a probe in it. */
export class MeasuredProgram {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly #database: FreshDatabase | undefined;
  readonly #log = new DefectLog();
  readonly #waiting = new Map<number, PromiseWithResolvers<Readings>>();
  /** Each request has a connection of its own. */
  readonly agent = new Agent({ keepAlive: false });
  #asked = 0;

  private constructor({ keys, deadlineMs, memoryLimitMb, mapping }: ProgramOptions, database: FreshDatabase | undefined) {
    this.#database = database;
    this.#dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-bounded-'));
    const mappings = join(this.#dataDir, 'mappings');
    mkdirSync(mappings);
    if (mapping !== undefined) writeFileSync(join(mappings, 'own.yaml'), mapping);
    const env = {
      ...programEnv(),
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: join(this.#dataDir, 'data'),
      MAPPINGS: mappings,
      ACCESS_KEYS: Array.from({ length: keys }, (_, caller) => `caller${caller}:${keyOf(caller)}:*`).join(','),
      ...(database === undefined ? {} : { STORE: 'clickhouse', CLICKHOUSE_URL: database.url, CLICKHOUSE_DATABASE: database.name }),
      ...(deadlineMs === undefined ? {} : { QUERY_DEADLINE_MS: String(deadlineMs) }),
      ...(memoryLimitMb === undefined ? {} : { MEMORY_LIMIT_MB: String(memoryLimitMb) }),
    };
    const child = spawn(process.execPath, [...NODE_OPTIONS, '--import', PROBE, MAIN, 'serve'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#log.add(text));
    child.on('message', (reply: ProbeReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ('error' in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply.readings);
    });
    child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error(this.#end() ?? ''));
    });
    this.#child = child;
  }

  static async start(options: ProgramOptions): Promise<MeasuredProgram> {
    const program = new MeasuredProgram(options, IS_ON_CLICKHOUSE ? await freshDatabase() : undefined);
    await eventually('the program is ready', async () => {
      program.requireRunning();
      return program.#log.address !== undefined && (await fetch(`${program.address}/readyz`)).ok;
    });
    return program;
  }

  get address(): string {
    return this.#log.address ?? '';
  }

  /** Begins a new measurement. */
  async reset(): Promise<void> {
    await this.#ask('reset');
  }

  read(): Promise<Readings> {
    return this.#ask('read');
  }

  /** On ClickHouse every event is in a part by the time that it is stored. */
  async flush(): Promise<void> {
    if (!IS_ON_CLICKHOUSE) await this.#ask('flush');
  }

  async compact(): Promise<void> {
    if (this.#database === undefined) await this.#ask('compact');
    else await this.#database.client.command({ query: 'OPTIMIZE TABLE events_local FINAL' });
  }

  /** Throws with its log where it has ended. */
  requireRunning(): void {
    const end = this.#end();
    if (end !== null) throw new Error(end);
  }

  /** Lines of its log that tell of a defect; each is told once. */
  defects(): readonly string[] {
    return this.#log.take();
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'close');
    const isRunning = this.#child.exitCode === null && this.#child.signalCode === null;
    this.#child.kill('SIGKILL');
    if (isRunning) await ended;
    this.agent.destroy();
    rmSync(this.#dataDir, { recursive: true, force: true });
    await this.#database?.drop();
  }

  #end(): string | null {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return null;
    return `the program has ended with ${exitCode ?? signalCode}: ${this.#log.takeAll().join('\n')}`;
  }

  #ask(ask: ProbeRequest['ask']): Promise<Readings> {
    this.requireRunning();
    this.#asked += 1;
    const waiting = Promise.withResolvers<Readings>();
    this.#waiting.set(this.#asked, waiting);
    this.#child.send({ id: this.#asked, ask } satisfies ProbeRequest);
    return waiting.promise;
  }
}
