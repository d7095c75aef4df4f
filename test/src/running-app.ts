import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { KafkaSource } from '../../ingest/kafka/kafka-source.ts';
import { readReceivers } from '../../src/alerts/receiver-file.ts';
import { startAlerts } from '../../src/alerts/start-alerts.ts';
import { type AppOptions, buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { startEdge } from '../../src/management/local-plane.ts';
import { FairQueue } from '../../src/scheduling/fair-queue.ts';
import { ScheduledReads } from '../../src/scheduling/scheduled-reads.ts';
import { openTestStore, type TestStore, type TestStoreOptions } from '../fixtures/test-store.ts';

/** The real app over a real store, listening on a free port of 127.0.0.1. */
export interface RunningApp {
  readonly app: FastifyInstance;
  readonly store: TestStore;
  readonly dataDir: string;
  /** Without a slash at its end. */
  readonly url: string;
  /** The log's lines so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

interface RunningAppOptions {
  /** Variables as in the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly kafka?: KafkaSource;
  readonly bodyDeadlineMs?: number;
  readonly bodyMemoryBytes?: number;
  /** Whether the management operations are served, by a local control plane. */
  readonly hasEdge?: boolean;
  readonly tailLimits?: NonNullable<AppOptions['tailLimits']>;
  /** The caller's, who closes them. */
  readonly mapping?: NonNullable<AppOptions['mapping']>;
  /** A folder of the caller's, which is left when the app stops. Absent: one of its own, which is removed. */
  readonly dataDir?: string;
  /** Unix ms UTC. */
  readonly now?: () => number;
  readonly storeOptions?: Partial<TestStoreOptions>;
}

export async function startApp(options: RunningAppOptions = {}): Promise<RunningApp> {
  const {
    env = {},
    kafka,
    dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-app-')),
    now = Date.now,
    storeOptions = {},
    hasEdge = false,
    ...limits
  } = options;
  const config = loadConfig({ MEMORY_LIMIT_MB: '512', ...env, DATA_DIR: dataDir });
  const log: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line)) });
  const { memoryLimitMb, retentionMs } = config;
  const store = await openTestStore({ dataDir, memoryLimitMb, retentionMs, now, logger, ...storeOptions });
  const edge = hasEdge ? { edge: await startEdge({ store, config, now, logger }) } : {};
  const reads = new ScheduledReads(store, new FairQueue());
  const receivers = config.alertReceivers === null ? [] : readReceivers(config.alertReceivers, env);
  const alerts = await startAlerts({ config, store, reads, kafka: null, receivers, now, logger });
  const app = await buildApp({ store, reads, config, now, logger, kafka: kafka ?? null, alerts, ...edge, ...limits });
  // Always on loopback: whatever HOST says is what the app believes.
  const url = await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
  const stop = async (): Promise<void> => {
    app.server.closeAllConnections();
    await app.close();
    await edge.edge?.stop();
    await alerts.stop();
    await store.close();
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  return { app, store, dataDir, url, log, stop };
}

const HOUR_MS = 3_600_000;

/** A search body over the last hour. */
export function lastHour(rest: Readonly<Record<string, unknown>> = {}): string {
  const now = Date.now();
  return JSON.stringify({ from: now - HOUR_MS, to: now + 1000, ...rest });
}

/** One NDJSON line of an event that is a minute old. */
export function eventLine(rest: Readonly<Record<string, unknown>> = {}): string {
  return `${JSON.stringify({ shieldZoneId: 7, timestamp: Date.now() - 60_000, ...rest })}\n`;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed; throws where it is no JSON. */
  readonly body: ReturnType<typeof JSON.parse>;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    get body() {
      return JSON.parse(text);
    },
  };
}

/** A request to the app; the header values are strings, as everything on the wire. */
export async function ask(
  { url }: Pick<RunningApp, 'url'>,
  path: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  return answerOf(await fetch(`${url}${path}`, init));
}

export async function search(
  app: Pick<RunningApp, 'url'>,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  zone: number | string = 7,
): Promise<Answer> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  return ask(app, `/shield/event-logs/${zone}/search`, init);
}

export async function ingest(
  app: Pick<RunningApp, 'url'>,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', ...headers },
    body: body as NonNullable<RequestInit['body']>,
  };
  return ask(app, '/ingest/events', init);
}
