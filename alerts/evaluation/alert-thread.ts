import { setFileAside } from '../../store/set-aside.ts';
import { isDamage } from '../../store/sqlite-transaction.ts';
import { type EvaluationOptions, RuleEvaluation } from './rule-evaluation.ts';

/** A call of a method of `RuleEvaluation`, which the thread carries out. */
export interface EvaluationCall {
  readonly method: Exclude<keyof RuleEvaluation, symbol>;
  readonly values: readonly unknown[];
}

/**
 * The work of the thread of `AlertKeeper`. After an error the state is opened again, because memory may be ahead of the file. A file that
 * is damaged is set aside, and rules begin as new ones.
 */
export function startWork(options: EvaluationOptions): (call: EvaluationCall) => unknown {
  let evaluation: RuleEvaluation | undefined;
  return ({ method, values }) => {
    try {
      evaluation ??= new RuleEvaluation(options);
      return (evaluation[method] as (...values: readonly unknown[]) => unknown).apply(evaluation, [...values]);
    } catch (error) {
      evaluation?.[Symbol.dispose]();
      evaluation = undefined;
      if (!isDamage(error)) throw error;
      const setAside = JSON.stringify(setFileAside(options.file));
      const what = `the state of alerts is damaged, ${(error as Error).message}; its file is ${setAside} now`;
      throw new Error(`${what}, and rules begin as new ones`, { cause: error });
    }
  };
}
