import { WorkerPool } from '../../work/worker-pool.ts';
import { AlertStateError } from './alert-state.ts';
import type { EvaluationAnswer, EvaluationCall } from './alert-thread.ts';
import type { Outbox } from './outbox.ts';
import type { EvaluationOptions, RuleEvaluation } from './rule-evaluation.ts';

/** The most that the heap of the thread may take: what all rules keep, once more while it is read at a start, and a page of events. */
export const ALERT_HEAP_MB = 384;

/** What a method of `RuleEvaluation` is where a thread carries it out. */
type Called<M extends EvaluationCall['method']> = (...values: Parameters<RuleEvaluation[M]>) => Promise<ReturnType<RuleEvaluation[M]>>;

/**
 * The `RuleEvaluation` of a state, in a thread of its own: it parses, matches and counts events, and waits for the disk. Its calls reject
 * with AlertStateError where the file of the state cannot be used; the next one opens it again.
 */
export class AlertKeeper implements Outbox {
  readonly next = this.#called('next');
  /** The bytes of the page cannot be used here afterwards. */
  readonly takePage = this.#called('takePage', ([{ bytes }]) => [bytes.buffer]);
  readonly refuse = this.#called('refuse');
  readonly look = this.#called('look');
  readonly ruleOf = this.#called('ruleOf');
  readonly waiting = this.#called('waiting');
  readonly settle = this.#called('settle');
  readonly giveUp = this.#called('giveUp');
  readonly overview = this.#called('overview');
  readonly addSilence = this.#called('addSilence');
  readonly removeSilence = this.#called('removeSilence');
  readonly #thread: WorkerPool<EvaluationCall, EvaluationAnswer, EvaluationOptions>;
  readonly #onDamage: (what: string) => void;

  /** `onDamage`, which must not throw, is told of a file of the state that was damaged. */
  constructor(options: EvaluationOptions, onDamage: (what: string) => void = () => undefined) {
    this.#onDamage = onDamage;
    const module = new URL('./alert-thread.ts', import.meta.url);
    this.#thread = new WorkerPool({ module, data: options, heapMb: ALERT_HEAP_MB });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  /** `transfersOf` says what goes over instead of being copied. */
  #called<M extends EvaluationCall['method']>(
    method: M,
    transfersOf: (values: Parameters<RuleEvaluation[M]>) => readonly ArrayBuffer[] = () => [],
  ): Called<M> {
    return async (...values) => {
      const answer = await this.#thread.run({ method, values }, transfersOf(values));
      if (!('fault' in answer)) return answer.value as ReturnType<RuleEvaluation[M]>;
      if (answer.isDamage) this.#onDamage(answer.fault);
      throw new AlertStateError(answer.fault);
    };
  }
}
