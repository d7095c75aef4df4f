import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { openTokenStore } from '../../../edge/local/database/access-tokens.ts';
import type { KafkaSource } from '../../../ingest/kafka/kafka-source.ts';
import { type Alerts, startAlerts } from '../../../src/alerts/start-alerts.ts';
import { buildApp } from '../../../src/app.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { type Edge, startEdge } from '../../../src/management/local-plane.ts';
import { FairQueue } from '../../../src/scheduling/fair-queue.ts';
import { ScheduledReads } from '../../../src/scheduling/scheduled-reads.ts';
import { openTestStore, type TestStore } from '../../fixtures/test-store.ts';
import { waitingSource } from '../waiting-source.ts';
import { type Addressed, type Call, type DrivenAnswer, send } from './driven-answer.ts';
import { type LogLine, secretsIn } from './told-settings.ts';

/** The real app over a real store and a real local control plane. */
export interface Site extends Addressed {
  readonly app: FastifyInstance;
  readonly store: TestStore;
  readonly edge: Edge;
  readonly alerts: Alerts;
  readonly kafka: KafkaSource;
  readonly queue: FairQueue;
  readonly dataDir: string;
  /** What no answer may tell: paths, hosts and secrets of the settings. */
  readonly hidden: readonly string[];
  /** The log's lines so far, parsed. */
  readonly log: readonly LogLine[];
  readonly logger: Logger;
  /** Tokens of its database. */
  readonly tokens: { readonly full: string; readonly readOnly: string };
  stop(): Promise<void>;
}

/** The rule of the examples of the document. */
const ALERT_RULE = 'name: credential-stuffing\nzones: [7]\nby: ip\nkind: distinct\nfield: ua\nat_least: 3\nwindow: 10m\nseverity: high\n';

/** Short, so that the tests need not wait long for a body that never comes. */
const BODY_DEADLINE_MS = 2_000;

function newTokens(dataDir: string): Site['tokens'] {
  const store = openTokenStore(dataDir, Date.now);
  const tokens = store.generate();
  store.close();
  const of = (kind: string): string => tokens.find((token) => token.kind === kind)?.token ?? '';
  return { full: of('full-access'), readOnly: of('read-only') };
}

async function listening(app: FastifyInstance): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
}

/** Starts one with variables as in the environment; `now` is the store's clock. */
export async function startSite(env: Readonly<Record<string, string>> = {}, now: () => number = Date.now): Promise<Site> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-site-'));
  const log: LogLine[] = [];
  const logger = pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line)) });
  const config = loadConfig({ MEMORY_LIMIT_MB: '256', ...env, DATA_DIR: dataDir });
  const store = await openTestStore({ dataDir, memoryLimitMb: config.memoryLimitMb, retentionMs: config.retentionMs, now, logger });
  const edge = await startEdge({ store, config, now: Date.now, logger });
  mkdirSync(join(dataDir, 'alerts'));
  writeFileSync(join(dataDir, 'alerts', 'rule.yaml'), ALERT_RULE);
  const kafka = waitingSource();
  const queue = new FairQueue();
  const reads = new ScheduledReads(store, queue);
  const alerts = await startAlerts({ config, store, reads, kafka: null, receivers: [], now: Date.now, logger });
  // The rule is known from then on.
  await alerts.keeper?.next();
  const app = await buildApp({ store, reads, config, now: Date.now, logger, kafka, edge, alerts, bodyDeadlineMs: BODY_DEADLINE_MS });
  const url = await listening(app);
  const stop = async (): Promise<void> => {
    app.server.closeAllConnections();
    await app.close();
    await edge.stop();
    await alerts.stop();
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const hidden = [dataDir, ...secretsIn(env)];
  return { app, store, edge, alerts, kafka, queue, dataDir, hidden, log, logger, tokens: newTokens(dataDir), url, stop };
}

/** Asks a second app over the site's store and control plane, one that has begun to stop and is not done with it. */
export async function askWhileStopping({ store, edge, logger }: Site, call: Call): Promise<DrivenAnswer> {
  const app = await buildApp({ store, config: loadConfig({}), now: Date.now, logger, kafka: null, edge });
  const { promise: answered, resolve: letGo } = Promise.withResolvers<void>();
  // A stop waits for what is under way; this makes it wait for our answer.
  app.addHook('preClose', async () => answered);
  const url = await listening(app);
  const closed = app.close();
  try {
    return await send({ url }, call);
  } finally {
    letGo();
    app.server.closeAllConnections();
    await closed;
  }
}
