import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { AlertEvaluator } from '../../alerts/evaluation/alert-evaluator.ts';
import { AlertKeeper } from '../../alerts/evaluation/alert-keeper.ts';
import { ALERT_STATE_FILE, isStateLost } from '../../alerts/evaluation/alert-state.ts';
import { ALERT_ZONE_QUEUE } from '../../alerts/evaluation/outbox.ts';
import { readRuleFolder } from '../../alerts/evaluation/rule-folder.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';
import type { EventStore, StoreLogger } from '../../store/event-store.ts';
import type { Config } from '../config/config.ts';
import { levelRead, totalRead } from '../http/metric-registry.ts';
import type { ScheduledReads } from '../scheduling/scheduled-reads.ts';
import { RETRY_TIMES } from '../sinks/feed-retry.ts';
import { watchAlertClaim } from './alert-claim-watch.ts';
import { startDelivery } from './alert-delivery.ts';
import { alertQuestions } from './alert-facts.ts';
import { alertZone } from './alert-zone.ts';
import { receiverClient } from './receiver-client.ts';
import type { Receiver } from './receiver-file.ts';

/** Kafka counts as behind where so many messages are not read. */
const MOST_BEHIND = 10_000;

export interface AlertsOptions {
  readonly config: Pick<Config, 'alerts' | 'alertZone' | 'dataDir' | 'publicUrl' | 'retentionMs' | 'store'>;
  readonly store: EventStore;
  readonly reads: Pick<ScheduledReads, 'of'>;
  /** Null where no Kafka is configured. */
  readonly kafka: Pick<KafkaSource, 'reasonsNotReady' | 'lag'> | null;
  /** Who may be told of alerts. */
  readonly receivers: readonly Receiver[];
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
 * Reads the rules of the folder of ALERTS, follows them, and tells receivers of their alerts. A file that is wrong is told, and the rule
 * that was read from it before goes on. Programs on one ClickHouse would each tell the same alerts, so that there ALERTS has to be set, and
 * only one of them follows rules. Throws ConfigError where another one does, and `StoreError` (`folder_unusable`).
 */
export async function startAlerts(options: AlertsOptions): Promise<Alerts> {
  const { config, store, reads, kafka, receivers, now, logger } = options;
  const { alerts: folder, alertZone: zoneId, dataDir, publicUrl, retentionMs } = config;
  const stateFile = join(dataDir, ALERT_STATE_FILE);
  const nothing = { keeper: null, stateFile, registerMetrics: () => undefined, stop: async () => undefined };
  if (folder === null && config.store === 'clickhouse') return { ...nothing, notes: () => [] };
  const faultsOf = (rule: AlertRule) => faultsHere(rule, options);
  const { rules, wrongFiles, faults } = readRuleFolder(folder ?? join(dataDir, 'alerts'), { mayLack: folder === null, faultsOf });
  for (const fault of faults) logger.error({ fault }, 'a rule of alerts is wrong; the one that was read from its file before goes on');
  const faultNotes = faults.map((fault) => `a rule is wrong: ${fault}`);
  const isLost = isStateLost(stateFile);
  if (rules.length === 0 && !existsSync(stateFile) && !isLost) return { ...nothing, notes: () => faultNotes };
  const claim = store.alertClaim && (await watchAlertClaim({ claim: store.alertClaim, dataDir, logger }));
  let damage: readonly string[] = [];
  const noteDamage = (what: string): void => {
    logger.error({}, what);
    damage = [what];
  };
  if (isLost) noteDamage(`the state of alerts, ${ALERT_STATE_FILE}, is gone, and rules begin as new ones`);
  const ofZone = zoneId === null ? { alsoTo: [] } : { alsoTo: [ALERT_ZONE_QUEUE], exceptZone: zoneId };
  const keeper = new AlertKeeper({ file: stateFile, rules, wrongFiles, retentionMs, ...ofZone }, noteDamage);
  // The flows of reads have names with a blank, which no key has.
  const delivery = startDelivery({
    outbox: keeper,
    destinations: [
      ...receivers.map((receiver) => receiverClient(receiver, now)),
      ...(zoneId === null ? [] : [alertZone(zoneId, { store, retentionMs, now })]),
    ],
    ruleOf: (name, version) => keeper.ruleOf(name, version),
    factsOf: alertQuestions(reads.of('alert messages'), now, logger),
    publicUrl,
    now,
    ...RETRY_TIMES,
    logger,
  });
  const evaluator = new AlertEvaluator({
    store,
    reads: reads.of('alert rules'),
    keeper,
    now,
    logger,
    mayFollow: () => claim === null || claim.isHeld(),
    isUpToDate: async () => {
      const isKafkaRead = kafka === null || (kafka.reasonsNotReady().length === 0 && kafka.lag() <= MOST_BEHIND);
      return isKafkaRead && (await store.reasonsNotReady()).length === 0;
    },
    onQueued: () => delivery.wake(),
  });
  // A program without rules leaves the claim to others.
  void evaluator.ended.then(() => claim?.stop());
  return {
    keeper,
    stateFile,
    notes: () => [...faultNotes, ...(claim?.notes() ?? []), ...damage, ...evaluator.notes(), ...delivery.notes()],
    registerMetrics: (registry) => {
      const lagSeconds = () => evaluator.facts && Math.max(0, now() - evaluator.facts.completeToMs) / 1000;
      levelRead(registry, 'shieldlog_alerts_lag_seconds', 'For how long events have been there that alerts have not counted', lagSeconds);
      levelRead(registry, 'shieldlog_alerts_rules', 'Rules of alerts that are followed', () => evaluator.facts?.rules);
      totalRead(registry, 'shieldlog_alerts_told_total', 'Alerts that were told', () => evaluator.facts?.told);
    },
    stop: async () => {
      await Promise.all([evaluator.stop(), delivery.stop()]);
      await keeper.close();
      await claim?.stop();
    },
  };
}

/** What of a rule that is right by itself is wrong in this program. */
function faultsHere(
  { receivers: named, zones }: AlertRule,
  { config: { alertZone: zoneId }, receivers }: AlertsOptions,
): readonly string[] {
  const names = receivers.map(({ name }) => name);
  const allowed = names.length === 0 ? 'none, because ALERT_RECEIVERS is not set or has none' : names.join(', ');
  const faults = named.filter((name) => !names.includes(name)).map((name) => `receivers names ${name}; allowed: ${allowed}`);
  if (zoneId !== null && zones !== 'all' && zones.includes(zoneId)) {
    faults.push(`zones names ${zoneId}, which is ALERT_ZONE; allowed: other zones`);
  }
  return faults;
}
