import { basename } from 'node:path';
import { setFileAside } from '../../store/set-aside.ts';
import { isDamage, isSqliteError, isUnusable } from '../../store/sqlite-transaction.ts';
import { ALERT_STATE_FILE, AlertStateError, markKept, systemMessage } from './alert-state.ts';
import { DamagedText } from './kept-text.ts';
import { type EvaluationOptions, RuleEvaluation } from './rule-evaluation.ts';

/** A call of a method of `RuleEvaluation`, which the thread carries out. */
export interface EvaluationCall {
  readonly method: Exclude<keyof RuleEvaluation, symbol>;
  readonly values: readonly unknown[];
}

/** What the method returned, or what is wrong with the file of the state, as a text, because errors lose their class between threads. */
export type EvaluationAnswer =
  | { readonly value: unknown }
  /** `isDamage`: rules begin anew, with the next call. */
  | { readonly fault: string; readonly isDamage: boolean };

/**
 * The work of the thread of `AlertKeeper`. After an error the state is opened again, because memory may be ahead of the file. A file that
 * is damaged is set aside, and rules begin as new ones, as they do where it was lost before. Throws what is no fault of the file.
 */
export function startWork(options: EvaluationOptions): (call: EvaluationCall) => EvaluationAnswer {
  let evaluation: RuleEvaluation | undefined;
  let damaged = 0;
  return ({ method, values }) => {
    try {
      if (evaluation === undefined) {
        evaluation = new RuleEvaluation(options, { nowMs: Date.now(), damaged });
        markKept(options.file);
      }
      return { value: (evaluation[method] as (...values: readonly unknown[]) => unknown).apply(evaluation, [...values]) };
    } catch (error) {
      // An opening goes into texts of rules whose form is not looked at. In a file that was made anew that is a fault of the program.
      const isUnread = evaluation === undefined && damaged === 0 && (error instanceof TypeError || error instanceof SyntaxError);
      evaluation?.[Symbol.dispose]();
      evaluation = undefined;
      if (isDamage(error) || isDamagedText(error) || isUnread) {
        const fault = `the state of alerts is damaged, ${(error as Error).message}; ${setAside(options.file)}`;
        damaged += 1;
        return { fault, isDamage: true };
      }
      if (error instanceof AlertStateError) return { fault: error.message, isDamage: false };
      if (!isUnusable(error)) throw error;
      return { fault: `the state of alerts, ${ALERT_STATE_FILE}, cannot be used: ${(error as Error).message}`, isDamage: false };
    }
  };
}

/** Whether a text in a table is not as it was written. A statement that goes into one as JSON says so in SQLite's words. */
function isDamagedText(error: unknown): boolean {
  return error instanceof DamagedText || (isSqliteError(error) && error.message === 'malformed JSON');
}

/** Sets a damaged file aside, and says what has become of it. */
function setAside(file: string): string {
  try {
    return `its file is ${JSON.stringify(basename(setFileAside(file)))} now, and rules begin as new ones`;
  } catch (error) {
    return `its file cannot be set aside: ${systemMessage(error)}`;
  }
}
