import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type DemoFeed, startDemoFeed } from '../ingest/demo/demo-feed.ts';
import { startDemoFile } from '../ingest/demo/demo-file.ts';
import { type KafkaSource, startKafkaSource } from '../ingest/kafka/kafka-source.ts';
import { MappingThreads } from '../ingest/upload/mapping-threads.ts';
import { modeOpenToOthers, networkFileSystemOf } from '../store/data-folder.ts';
import type { EventStore } from '../store/event-store.ts';
import { openStore } from '../store/open-store.ts';
import { readReceivers } from './alerts/receiver-file.ts';
import { startAlerts } from './alerts/start-alerts.ts';
import { buildApp } from './app.ts';
import { clickhouseAddress, clusterOf } from './config/clickhouse-config.ts';
import type { Config } from './config/config.ts';
import { configuredMappings, mappingNamed, requireKeyMappings, requireTopicMappings } from './config/configured-mappings.ts';
import { kafkaConnection } from './config/kafka-config.ts';
import type { Texts } from './config/setting-text.ts';
import { listen } from './http/listen.ts';
import { startEdge } from './management/local-plane.ts';
import { pageReader } from './page/served-page.ts';
import { FairQueue } from './scheduling/fair-queue.ts';
import { ScheduledReads } from './scheduling/scheduled-reads.ts';
import { STOP_LIMITS, type StopStep, stopAll } from './stop-all.ts';

/** The running program: store, sources and HTTP interface. */
export interface Program {
  /** The address, for example `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Resolves when the demonstration has filled its past or has logged why it could not; at once where there is none. */
  readonly filled: Promise<void>;
  /**
   * Takes nothing more in, finishes what is under way for up to `graceMs`, interrupts the rest and closes the store. All parts are stopped
   * even when one fails; then rejects with its error. Rejects with StopOverdue when a part hangs.
   */
  stop(): Promise<void>;
}

export interface ProgramOptions {
  readonly config: Config;
  /** Has the secrets that the file of ALERT_RECEIVERS names. Default: none. */
  readonly env?: Texts;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
  /** Is called where the program cannot go on: the process has to end, without a stop. */
  readonly onFatal: (error: Error) => void;
}

function startKafka({ config, now, logger }: ProgramOptions, store: EventStore, threads: MappingThreads): KafkaSource | null {
  const kafka = kafkaConnection(config);
  if (kafka === null) return null;
  const { kafkaTopics: topics, kafkaGroupId: groupId, retentionMs } = config;
  return startKafkaSource({ kafka, topics, threads, groupId, store, now, retentionMs, logger });
}

function startDemo({ config, now, logger }: ProgramOptions, store: EventStore, threads: MappingThreads): DemoFeed | null {
  const { demo, demoFile: file, demoMapping: mapping, retentionMs } = config;
  if (!demo) return null;
  const feed = { store, now, retentionMs, logger };
  return file === null || mapping === null ? startDemoFeed(feed) : startDemoFile({ ...feed, threads, file, mapping });
}

/** Answers under way are finished. Those that take longer than the grace are cut off, which interrupts their searches. */
function stopOfApp(app: FastifyInstance): StopStep {
  return {
    name: () => `the answers to ${app.underWay().join(', ') || 'no request any more'}`,
    stop: async (hurry) => {
      const cutOff = (): void => app.server.closeAllConnections();
      hurry.addEventListener('abort', cutOff, { once: true });
      if (hurry.aborted) cutOff();
      await app.close();
    },
  };
}

/** The flow of the searches that the control plane makes for all callers. No key has a name with a blank. */
const CONTROL_PLANE = 'control plane';

const BYTES_PER_MB = 1024 * 1024;

/**
 * Opens the store, starts the sources and listens. Throws ConfigError, StoreError or ListenError; parts that were started before are
 * stopped again.
 */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { config, env = {}, now, logger, onFatal } = options;
  const { dataDir, memoryLimitMb, retentionMs, deadLetterRetentionMs, deadLetterMaxMb } = config;
  const mappings = configuredMappings(config.mappings);
  requireKeyMappings(config.accessKeys, mappings);
  requireTopicMappings(config.kafkaTopics, mappings);
  if (config.demoMapping !== null) mappingNamed(config.demoMapping, mappings, 'DEMO_MAPPING');
  const receivers = config.alertReceivers === null ? [] : readReceivers(config.alertReceivers, env);
  const deadLetters = { deadLetterRetentionMs, deadLetterQuotaBytes: deadLetterMaxMb * BYTES_PER_MB };
  const clickhouse = clickhouseAddress(config);
  const settings = { retentionMs, ...deadLetters, now, logger };
  const store = await openStore(
    clickhouse === null
      ? { kind: 'embedded', dataDir, memoryLimitMb, ...settings, onFatal }
      : { kind: 'clickhouse', address: clickhouse, dataDir, memoryLimitMb, ...clusterOf(config), ...settings },
  );
  // First the parts that take in and answer, then those that they use.
  const users: StopStep[] = [];
  const planes: StopStep[] = [];
  const storeStep: StopStep = { name: () => `the store: ${store.closingStep}`, stop: () => store.close() };
  const stop = (): Promise<void> => stopAll([users, planes, [storeStep]], STOP_LIMITS);
  try {
    const mode = modeOpenToOthers(dataDir);
    if (mode !== null) logger.warn({ dataDir, mode }, 'other users of this machine can read DATA_DIR: run chmod 700 on it');
    const network = networkFileSystemOf(dataDir);
    if (network !== null) {
      const risk = 'two programs may open it at once, and what is synced may not be on a disk: choose a folder on a disk of this machine';
      logger.warn({ dataDir, fileSystem: network }, `DATA_DIR is on ${network}: ${risk}`);
    }
    const mapping = new MappingThreads(mappings);
    planes.push({ name: () => 'the threads that map records', stop: () => mapping.close() });
    const kafka = startKafka(options, store, mapping);
    if (kafka !== null) users.push({ name: () => 'the Kafka source', stop: () => kafka.stop() });
    const reads = new ScheduledReads(store, new FairQueue());
    const edge = await startEdge({ store: reads.of(CONTROL_PLANE), config, now, logger });
    planes.push({ name: () => 'the local control plane', stop: () => edge.stop() });
    const alerts = await startAlerts({ config, store, reads, kafka, receivers, now, logger });
    planes.push({ name: () => 'the rules of alerts', stop: () => alerts.stop() });
    const page = pageReader();
    const app = await buildApp({ store, reads, config, now, logger, kafka, alerts, edge, page, mapping });
    users.push(stopOfApp(app));
    const address = await listen(app, config);
    // The first visitor would wait for it.
    page().catch((error: unknown) => logger.error({ err: error }, 'the page could not be made ready; the next request for it tries again'));
    // The demonstration comes last, because its work competes with the start.
    const demo = startDemo(options, store, mapping);
    if (demo !== null) users.push({ name: () => 'the demonstration', stop: () => demo.stop() });
    // The demonstration has logged why it failed. The program goes on without it.
    const filled = demo === null ? Promise.resolve() : demo.filled.catch(() => {});
    return { address, filled, stop };
  } catch (error) {
    await stop().catch((closing: unknown) => logger.error({ err: closing }, 'what had been started could not be stopped'));
    throw error;
  }
}
