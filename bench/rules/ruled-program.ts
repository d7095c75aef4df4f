import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processorMs, type ThreadTimes, threadTimes } from '../compare/processor-time.ts';
import { serveProgram } from '../subjects/served-program.ts';
import type { RuleDocument } from './rule-sets.ts';

/** What `GET /alerts` says, as far as it is needed. */
interface FollowedRules {
  readonly rules: readonly { readonly rule: string; readonly read: number; readonly counted: number; readonly bounded: number }[];
  readonly alerts: readonly { readonly rule: string }[];
}

export interface RuledProgramOptions {
  readonly dataDir: string;
  readonly rules: readonly RuleDocument[];
  /** The file of receivers, in YAML. */
  readonly receivers?: string;
  readonly memoryLimitMb: number;
}

/** A program that takes less of a core than this has nothing left to do. */
const RESTING_SHARE = 0.1;
const LONGEST_WORK_S = 300;
const POLL_MS = 250;

/** The program in a process of its own, following rules. */
export class RuledProgram implements AsyncDisposable {
  readonly url: string;
  readonly #served: Awaited<ReturnType<typeof serveProgram>>;
  readonly #hasRules: boolean;

  private constructor(served: Awaited<ReturnType<typeof serveProgram>>, hasRules: boolean) {
    this.url = served.url;
    this.#served = served;
    this.#hasRules = hasRules;
  }

  static async start({ dataDir, rules, receivers, memoryLimitMb }: RuledProgramOptions): Promise<RuledProgram> {
    const folder = join(dataDir, 'rules');
    await mkdir(folder, { recursive: true });
    for (const rule of rules) await writeFile(join(folder, `${rule.name}.yaml`), JSON.stringify(rule));
    const told: Record<string, string> = {};
    if (receivers !== undefined) {
      told['ALERT_RECEIVERS'] = join(dataDir, 'receivers.yaml');
      await writeFile(told['ALERT_RECEIVERS'], receivers);
    }
    const variables = { ALERTS: folder, MEMORY_LIMIT_MB: String(memoryLimitMb), ...told };
    return new RuledProgram(await serveProgram(join(dataDir, 'data'), variables), rules.length > 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { child } = this.#served;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  /** The time that its threads have run. Throws where the system does not tell, which Linux does. */
  async threadTimes(): Promise<ThreadTimes> {
    const times = await threadTimes(this.#served.child.pid ?? 0);
    if (times === undefined) throw new Error('the processor time of a process is not known on this system; on Linux it is');
    return times;
  }

  /** For how long events have been there that rules have not counted, milliseconds; undefined before it is known. */
  async lagMs(): Promise<number | undefined> {
    const metrics = await (await fetch(`${this.url}/metrics`)).text();
    const seconds = /^shieldlog_alerts_lag_seconds (\S+)$/m.exec(metrics)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1_000;
  }

  /** Resolves when rules have counted all that was taken in by a time, and nothing is left to be flushed and merged. */
  async rested(untilMs: number): Promise<void> {
    for (let tries = 0; this.#hasRules; tries += 1) {
      const askedAtMs = Date.now();
      const lagMs = await this.lagMs();
      if (lagMs !== undefined && askedAtMs - lagMs > untilMs) break;
      if (tries * POLL_MS > LONGEST_WORK_S * 1_000) throw new Error(`rules are ${lagMs} ms behind after ${LONGEST_WORK_S} s`);
      await delay(POLL_MS);
    }
    for (let seconds = 0; seconds < LONGEST_WORK_S; seconds += 1) {
      const before = await this.threadTimes();
      await delay(1_000);
      if (processorMs(before, await this.threadTimes()) < RESTING_SHARE * 1_000) return;
    }
    throw new Error(`the program still works ${LONGEST_WORK_S} s after the last event`);
  }

  async followed(): Promise<FollowedRules> {
    return (await (await fetch(`${this.url}/alerts?limit=1000`)).json()) as FollowedRules;
  }
}
