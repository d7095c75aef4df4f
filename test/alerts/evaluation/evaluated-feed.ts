import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RuleReader } from '../../../alerts/evaluation/alert-evaluator.ts';
import { AlertStateError } from '../../../alerts/evaluation/alert-state.ts';
import { type EvaluationCall, startWork } from '../../../alerts/evaluation/alert-thread.ts';
import { FoldLog } from '../../../alerts/evaluation/fold-log.ts';
import type { OutboxMessage } from '../../../alerts/evaluation/outbox.ts';
import { PreparedSql } from '../../../alerts/evaluation/prepared-sql.ts';
import type { EvaluationOptions, NextStep, RuleEvaluation } from '../../../alerts/evaluation/rule-evaluation.ts';
import { type EventStore, type FeedRequest, silentLogger } from '../../../store/event-store.ts';
import { canonicalBatch } from '../../fixtures/canonical-batch.ts';
import { NOW } from '../../fixtures/present.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { inKeyOrder } from '../kept-fold.ts';

/** The text of the file of a rule, of which the members are lines of YAML. One that is undefined is left out. */
export function ruleText(members: Readonly<Record<string, string | number | undefined>> = {}): string {
  const usual = { name: 'a-rule', zones: 'all', kind: 'count', at_least: 2, window: '10m', by: 'country', receivers: '[mail]' };
  return Object.entries({ ...usual, ...members })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

/** Rules in files of their own. */
export function rulesOf(...texts: readonly string[]): EvaluationOptions['rules'] {
  return texts.map((text, nth) => ({ file: `${nth}.yaml`, text }));
}

type Method = EvaluationCall['method'];

/** The work of the thread of `AlertKeeper`, on this one. */
export class KeeperHere {
  readonly #call: ReturnType<typeof startWork>;

  constructor(options: Partial<EvaluationOptions> & Pick<EvaluationOptions, 'file' | 'rules'>) {
    this.#call = startWork({ wrongFiles: [], retentionMs: RETENTION_MS, alsoTo: [], ...options });
  }

  next = async () => this.call('next');
  takePage = async (...values: Parameters<RuleEvaluation['takePage']>) => this.call('takePage', ...values);
  look = async (...values: Parameters<RuleEvaluation['look']>) => this.call('look', ...values);
  refuse = async (...values: Parameters<RuleEvaluation['refuse']>) => this.call('refuse', ...values);

  call<M extends Method>(method: M, ...values: Parameters<RuleEvaluation[M]>): ReturnType<RuleEvaluation[M]> {
    const answer = this.#call({ method, values });
    if ('fault' in answer) throw new AlertStateError(answer.fault);
    return answer.value as ReturnType<RuleEvaluation[M]>;
  }
}

interface Evaluated {
  readonly keeper: KeeperHere;
  readonly store: Pick<EventStore, 'readFeed' | 'positions'>;
  /** The limit of the next page; absent: that of the program. */
  readonly limit?: () => number;
  /** Is called behind each page: true kills the program. */
  readonly isKilled?: () => boolean;
}

/** Has everything counted that the store has now. Resolves with whether it was killed before. */
export async function evaluate({ keeper, store, limit, isKilled = () => false }: Evaluated): Promise<boolean> {
  const readFeed = (request: FeedRequest) => store.readFeed({ ...request, limit: limit?.() ?? request.limit });
  const reader = new RuleReader({ store, reads: { readFeed }, keeper, mayFollow: () => true, now: () => 0, logger: silentLogger });
  let step: NextStep = await keeper.next();
  while (step.wanted !== null) {
    const read = await reader.step(step.wanted);
    step = read.step;
    if (read.isAtEnd && (step.wanted?.until ?? null) === null) return false;
    if (isKilled()) return true;
  }
  return false;
}

/** What the file of a state says of alerts, of the messages about them, and of what rules know: of each rule in its order. */
export function keptIn(file: string) {
  using database = new DatabaseSync(file, { readOnly: true });
  const all = (sql: string) => database.prepare(sql).all();
  const log = new FoldLog(new PreparedSql(database));
  return {
    alerts: all('SELECT rule, id, nth, is_open, alert, told, early_end FROM alerts ORDER BY rule, rule_id, nth'),
    messages: all('SELECT rule, queue, alert_id, state, message, outcome FROM outbox ORDER BY rule, seq'),
    rules: all("SELECT name, rule ->> 'version', rule ->> 'after', rule ->> 'unreadable' FROM rules ORDER BY name"),
    folds: all('SELECT id FROM rules ORDER BY name').map(({ id }) => {
      const known = log.read(Number(id));
      return { closed: known?.closed, rows: inKeyOrder(known?.rows ?? []) };
    }),
    told: all("SELECT progress ->> 'told' FROM progress"),
  };
}

/** A store with a clock, and rules over it. */
export async function evaluatedStore() {
  const folder = temporaryFolder();
  const clock = { nowMs: NOW };
  const store = await storeIn(folder, { now: () => clock.nowMs });
  const file = join(folder, 'alerts.sqlite');
  let sent = 0;
  return {
    store,
    file,
    clock,
    /** So many events of now, or of so long ago. */
    append: async (count: number, agoMs = 0, fields: object = {}) => {
      const events = Array.from({ length: count }, () => {
        sent += 1;
        return { logId: `event-${sent}`, shieldZoneId: 7, timestamp: clock.nowMs - agoMs, country: 'DE', log: {}, ...fields };
      });
      await store.append(canonicalBatch(events));
    },
    /** Starts the program with these rules, and has everything counted. */
    run: async (texts: readonly string[], more: Partial<EvaluationOptions> = {}) => {
      const keeper = new KeeperHere({ file, rules: rulesOf(...texts), ...more });
      await evaluate({ keeper, store });
      return keeper;
    },
  };
}

export function messagesIn(keeper: KeeperHere, queue = 'mail'): readonly OutboxMessage[] {
  return keeper.call('waiting', queue, { limit: 100, except: [] })?.messages ?? [];
}

export const overviewOf = (keeper: KeeperHere) => keeper.call('overview', { limit: 100 });
