import { WorkerPool } from '../../work/worker-pool.ts';
import type { AlertRule } from '../rule.ts';
import { versionOf } from '../rule.ts';
import { AlertStateError } from './alert-state.ts';
import type { EvaluationAnswer, EvaluationCall } from './alert-thread.ts';
import type { Outbox } from './outbox.ts';
import type { EvaluationOptions, NextStep, RuleEvaluation } from './rule-evaluation.ts';

/** The most that the heap of the thread may take: what all rules keep, once more while it is read at a start, and a page of events. */
export const ALERT_HEAP_MB = 384;

type Method = EvaluationCall['method'];

/**
 * What the rules of alerts know, kept by a thread of its own: it parses, matches and counts events, and waits for the disk. Its calls
 * reject with AlertStateError where the file of the state cannot be used.
 */
export class AlertKeeper implements Outbox {
  readonly #thread: WorkerPool<EvaluationCall, EvaluationAnswer, EvaluationOptions>;
  readonly #onDamage: (what: string) => void;
  readonly #onQueued = new Set<() => void>();
  #rules: readonly AlertRule[] = [];

  /** `onDamage`, which must not throw, is told of a file of the state that was damaged. */
  constructor(options: EvaluationOptions, onDamage: (what: string) => void = () => undefined) {
    this.#onDamage = onDamage;
    const module = new URL('./alert-thread.ts', import.meta.url);
    this.#thread = new WorkerPool({ module, data: options, heapMb: ALERT_HEAP_MB });
  }

  /** Opens the state, and says which page to read first. It may be called again. */
  async begin(): Promise<NextStep> {
    this.#rules = await this.#run('rules');
    return await this.#run('next');
  }

  /** The rule in force of a name; undefined before `begin`, too. */
  ruleNamed(name: string): AlertRule | undefined {
    return this.#rules.find((rule) => rule.name === name);
  }

  /** The same where it has this version. */
  ruleOf(name: string, version: string): AlertRule | undefined {
    const rule = this.ruleNamed(name);
    return rule !== undefined && versionOf(rule) === version ? rule : undefined;
  }

  async takePage(...values: Parameters<RuleEvaluation['takePage']>): Promise<NextStep> {
    return this.#told(await this.#run('takePage', ...values));
  }

  async look(...values: Parameters<RuleEvaluation['look']>): Promise<NextStep> {
    return this.#told(await this.#run('look', ...values));
  }

  /** Calls `listener`, which must not throw, soon after messages were put into the outbox; returns the function that ends this. */
  onQueued(listener: () => void): () => void {
    this.#onQueued.add(listener);
    return () => this.#onQueued.delete(listener);
  }

  refuse(...values: Parameters<RuleEvaluation['refuse']>) {
    return this.#run('refuse', ...values);
  }

  waiting(...values: Parameters<RuleEvaluation['waiting']>) {
    return this.#run('waiting', ...values);
  }

  settle(...values: Parameters<RuleEvaluation['settle']>) {
    return this.#run('settle', ...values);
  }

  giveUp(...values: Parameters<RuleEvaluation['giveUp']>) {
    return this.#run('giveUp', ...values);
  }

  overview(...values: Parameters<RuleEvaluation['overview']>) {
    return this.#run('overview', ...values);
  }

  addSilence(...values: Parameters<RuleEvaluation['addSilence']>) {
    return this.#run('addSilence', ...values);
  }

  removeSilence(...values: Parameters<RuleEvaluation['removeSilence']>) {
    return this.#run('removeSilence', ...values);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  #told(step: NextStep): NextStep {
    if (step.hasQueued) for (const listener of this.#onQueued) listener();
    return step;
  }

  async #run<M extends Method>(method: M, ...values: Parameters<RuleEvaluation[M]>): Promise<ReturnType<RuleEvaluation[M]>> {
    const answer = await this.#thread.run({ method, values });
    if ('fault' in answer) {
      if (answer.isDamage) this.#onDamage(answer.fault);
      throw new AlertStateError(answer.fault);
    }
    return answer.value as ReturnType<RuleEvaluation[M]>;
  }
}
