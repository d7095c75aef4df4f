import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { AlertEvaluator } from '../../alerts/evaluation/alert-evaluator.ts';
import { AlertKeeper } from '../../alerts/evaluation/alert-keeper.ts';
import { ALERT_STATE_FILE } from '../../alerts/evaluation/alert-state.ts';
import { readRuleFolder } from '../../alerts/evaluation/rule-folder.ts';
import type { EventStore, StoreLogger } from '../../store/event-store.ts';
import type { Config } from '../config/config.ts';
import { levelRead, totalRead } from '../http/metric-registry.ts';

/** The folder in DATA_DIR of rules where ALERTS is not set. */
const USUAL_FOLDER = 'alerts';

export interface AlertsOptions {
  readonly config: Pick<Config, 'alerts' | 'dataDir' | 'retentionMs' | 'store'>;
  readonly store: Pick<EventStore, 'onEvents' | 'positions'>;
  readonly reads: Pick<EventStore, 'readFeed'>;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: StoreLogger;
}

/** The rules of alerts that the program follows. */
export interface Alerts {
  /** Null: it follows none. */
  readonly keeper: AlertKeeper | null;
  /** The path of the state, which may not be there. */
  readonly stateFile: string;
  /** Says for people what they have to look at. */
  notes(): readonly string[];
  registerMetrics(registry: Registry): void;
  stop(): Promise<void>;
}

/**
 * Reads the rules of the folder of ALERTS, and follows them. A file that is wrong is told, and the rule that was read from it before goes
 * on. Programs on one ClickHouse would each tell the same alerts, so that there ALERTS has to be set.
 */
export function startAlerts({ config, store, reads, now, logger }: AlertsOptions): Alerts {
  const { alerts: folder, dataDir, retentionMs } = config;
  const stateFile = join(dataDir, ALERT_STATE_FILE);
  const isOff = folder === null && config.store === 'clickhouse';
  const found = readRuleFolder(folder ?? join(dataDir, USUAL_FOLDER), { mayLack: folder === null });
  const { rules, wrongFiles, faults } = isOff ? { rules: [], wrongFiles: [], faults: [] } : found;
  for (const fault of faults) logger.error({ fault }, 'a rule of alerts is wrong; the one that was read from its file before goes on');
  const faultNotes = faults.map((fault) => `a rule is wrong: ${fault}`);
  if (isOff || (rules.length === 0 && !existsSync(stateFile))) {
    return { keeper: null, stateFile, notes: () => faultNotes, registerMetrics: () => undefined, stop: async () => undefined };
  }
  const keeper = new AlertKeeper({ file: stateFile, rules, wrongFiles, retentionMs, alsoTo: [] });
  const evaluator = new AlertEvaluator({ store, reads, keeper, now, logger });
  return {
    keeper,
    stateFile,
    notes: () => [...faultNotes, ...evaluator.notes()],
    registerMetrics: (registry) => {
      const lagSeconds = () => evaluator.facts && Math.max(0, now() - evaluator.facts.completeToMs) / 1000;
      levelRead(registry, 'shieldlog_alerts_lag_seconds', 'For how long events have been there that alerts have not counted', lagSeconds);
      levelRead(registry, 'shieldlog_alerts_rules', 'Rules of alerts that are followed', () => evaluator.facts?.rules);
      totalRead(registry, 'shieldlog_alerts_told_total', 'Alerts that were told', () => evaluator.facts?.told);
    },
    stop: async () => {
      await evaluator.stop();
      await keeper.close();
    },
  };
}
