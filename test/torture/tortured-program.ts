import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { type ProgramUnderTest, startProgramProcess } from '../broker/program-under-test.ts';
import { until } from '../broker/until.ts';
import { Difference } from './sent-events.ts';

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Files of this process could not be read or written for a while: what it lacks now is there again after the next start. */
  readonly hadFaults: boolean;
}

export interface Question {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** What a process of the program takes of the machine. */
export interface Footprint {
  /** Memory that is no file's, in MiB. */
  readonly memoryMb: number;
  readonly openFiles: number;
}

/** One process of the program, from its start to its end. */
interface Life {
  readonly program: ProgramUnderTest;
  address: string;
  /** Whether it may answer nothing, or errors, at the moment: it is being killed, or its files fail. */
  isExcused: boolean;
  hadFaults: boolean;
}

const COLLECT_GARBAGE = pathToFileURL(join(import.meta.dirname, 'collect-garbage.mjs')).href;

/** The time that the program may take to start or to recover, on a busy machine. */
const PATIENCE_MS = 120_000;

/** The program under torture: one process after the other on the same folder. */
export class TorturedProgram {
  readonly #variables: (life: number) => Readonly<Record<string, string>>;
  readonly #mayFail: () => boolean;
  readonly #agent = new Agent({ pipelining: 0, headersTimeout: 600_000, bodyTimeout: 600_000 });
  readonly #failed = Promise.withResolvers<never>();
  #lives = 0;
  #life: Life | undefined;
  /** Resolves once a process listens. */
  #up = Promise.withResolvers<Life>();
  #isUp = false;
  /** Answers 503 `store.busy`, which are no fault. */
  refusals = 0;

  /**
   * `variables` are those of each life, which are numbered from 1. `mayFail` says whether what the program stands on may be away, so that
   * it may answer 503, or break an answer off.
   */
  constructor(variables: (life: number) => Readonly<Record<string, string>>, mayFail: () => boolean = () => false) {
    this.#variables = variables;
    this.#mayFail = mayFail;
    // Who waits for something else when it rejects is told by what comes next.
    this.#failed.promise.catch(() => undefined);
  }

  /** Rejects with a `Difference` when the program ends by itself. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Whether a process listens. */
  get isUp(): boolean {
    return this.#isUp;
  }

  get lives(): number {
    return this.#lives;
  }

  get pid(): number {
    return this.#life?.program.pid ?? 0;
  }

  get log(): string {
    return this.#life?.program.log() ?? '';
  }

  /** Starts a process that may be killed before it listens. */
  begin(): void {
    this.#lives += 1;
    const program = startProgramProcess(this.#variables(this.#lives), [...process.execArgv, `--import=${COLLECT_GARBAGE}`]);
    const life: Life = { program, address: '', isExcused: false, hadFaults: false };
    this.#life = life;
    void program.ended.then((result) => {
      if (!life.isExcused) this.#failed.reject(new Difference(`the program ended by itself with ${result}:\n${program.log()}`));
      this.#leave(life);
    });
  }

  /** Starts a process, and resolves once it listens. */
  async start(): Promise<void> {
    this.begin();
    const life = this.#life as Life;
    life.address = await Promise.race([life.program.address, this.failed]);
    this.#isUp = true;
    this.#up.resolve(life);
  }

  /** Ends the process. Throws `Difference` where it does not end as it has to. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const life = this.#life;
    if (life === undefined) return;
    life.isExcused = true;
    this.#goDown();
    const result = await life.program.kill(signal);
    const expected = signal === 'SIGTERM' ? 0 : signal;
    // After a fault it may have ended just before.
    if (result !== expected && !life.hadFaults) throw new Difference(`${signal} ended the program with ${result}:\n${life.program.log()}`);
  }

  /**
   * Runs `faults`, during which the program may answer errors and end with status 1, and waits until it is ready again. Resolves with
   * whether it lives.
   */
  async survives(faults: () => Promise<void>): Promise<boolean> {
    const life = this.#life as Life;
    life.isExcused = true;
    life.hadFaults = true;
    await faults();
    const recovered = async (): Promise<string> =>
      this.#life === life ? await this.#send(life, '/readyz', { method: 'GET' }).then(readiness, (error: Error) => error.message) : 'ended';
    const state = await until('it', recovered, (answer) => answer === 'ended' || answer === 'ready', PATIENCE_MS).catch((error: Error) => {
      throw new Difference(`the program is not ready again after faults: ${error.message}\n${life.program.log()}`);
    });
    if (state === 'ready') {
      life.isExcused = false;
      return true;
    }
    const result = await life.program.ended;
    if (result !== 1) throw new Difference(`faults ended the program with ${result} instead of 1:\n${life.program.log()}`);
    return false;
  }

  /**
   * Asks the process that runs now, or the next one. Resolves with undefined where it was killed meanwhile, its files fail, or it says that
   * it is busy. Throws `Difference` where it gives no answer, or answers with an error.
   */
  async ask(path: string, question: Question = { method: 'GET' }): Promise<Answer | undefined> {
    const life = await Promise.race([this.#up.promise, this.failed]);
    const wasExcused = life.isExcused;
    const couldFail = this.#mayFail();
    const isExcused = (): boolean => wasExcused || life.isExcused;
    const mayFail = (): boolean => couldFail || this.#mayFail();
    let answer: Answer;
    try {
      answer = await this.#send(life, path, question);
    } catch (error) {
      // The end of the process may be told after the end of its connections.
      if (!isExcused()) await Promise.race([life.program.ended, new Promise((resolve) => setTimeout(resolve, 1_000))]);
      if (isExcused() || mayFail()) return undefined;
      throw new Difference(`${path} was not answered: ${(error as Error).message}\n${life.program.log()}`, { cause: error });
    }
    if (answer.status < 500) return answer;
    if (isExcused() || (answer.status === 503 && mayFail())) return undefined;
    if (answer.text.includes('"store.busy"')) {
      this.refusals += 1;
      return undefined;
    }
    throw new Difference(`${path} was answered ${answer.status}: ${answer.text}\n${life.program.log()}`);
  }

  /** A metric without labels. Undefined where the program does not answer. */
  async metric(name: string): Promise<number | undefined> {
    const answer = await this.ask('/metrics');
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(answer?.text ?? '')?.[1];
    return value === undefined ? undefined : Number(value);
  }

  /** Has the main thread of the process collect its garbage. */
  collectGarbage(): void {
    process.kill(this.pid, 'SIGUSR2');
  }

  /** What the process takes now; of Linux. `except` are files that do not count. */
  footprint(except: string): Footprint {
    const { pid } = this;
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        // It was closed meanwhile.
        return except;
      }
    });
    return { memoryMb: Number(kilobytes) / 1024, openFiles: files.filter((file) => file !== except).length };
  }

  async #send(life: Life, path: string, { method, headers, body }: Question): Promise<Answer> {
    const options = { method, dispatcher: this.#agent, headers: headers ?? {}, body: body ?? null };
    const response = await request(`${life.address}${path}`, options);
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text, hadFaults: life.hadFaults };
  }

  #leave(life: Life): void {
    if (this.#life !== life) return;
    this.#life = undefined;
    this.#goDown();
  }

  #goDown(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#up = Promise.withResolvers();
  }
}

const readiness = ({ status, text }: Answer): string => (status === 200 ? 'ready' : text);
