import { randomUUID } from 'node:crypto';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { KafkaSource } from '../ingest/kafka/kafka-source.ts';
import { MappingThreads } from '../ingest/upload/mapping-threads.ts';
import type { EventStore } from '../store/event-store.ts';
import { MEBIBYTE, memoryShares } from '../store/memory-shares.ts';
import { MainThreadTurns } from '../work/main-thread-turns.ts';
import type { Alerts } from './alerts/start-alerts.ts';
import { access, flowOf } from './auth/access.ts';
import type { Config } from './config/config.ts';
import { configuredMappings } from './config/configured-mappings.ts';
import type { UpstreamConfig } from './config/edge-config.ts';
import { AnswerMemory } from './http/answer-memory.ts';
import { BODY_MEMORY_BYTES, BodyMemory } from './http/body-memory.ts';
import { earlyRefusals, stopping } from './http/early-refusals.ts';
import { answerError, errorAnswers } from './http/error-answers.ts';
import { answerBrokenConnection, createHttpServer } from './http/http-server.ts';
import { everyLocalhost } from './http/listen.ts';
import { createMetrics } from './http/metric-registry.ts';
import { BODY_DEADLINE_MS } from './http/request-body.ts';
import { SearchAnswers } from './http/search-answers.ts';
import type { Edge } from './management/local-plane.ts';
import { edgeRoutes } from './management/operation-routes.ts';
import { requestHistory } from './management/program-history.ts';
import { type PageReader, pageReader } from './page/served-page.ts';
import { alertRoutes } from './routes/alerts.ts';
import { backtestRoutes } from './routes/backtest.ts';
import { backupRoutes } from './routes/backup.ts';
import { checkRoutes } from './routes/check.ts';
import { deadLetterRoutes } from './routes/dead-letters.ts';
import { doorRoutes } from './routes/doors/doors.ts';
import { exploreRoutes } from './routes/explore.ts';
import { exportRoutes } from './routes/export.ts';
import { feedRoutes } from './routes/feed.ts';
import { healthRoutes } from './routes/health.ts';
import { ingestEventsRoutes } from './routes/ingest-events.ts';
import { kafkaRoutes } from './routes/kafka.ts';
import { metricsRoutes } from './routes/metrics.ts';
import { openapiRoutes } from './routes/openapi.ts';
import { pageRoutes } from './routes/page.ts';
import type { RouteServices } from './routes/route-services.ts';
import { searchRoutes } from './routes/search.ts';
import { tailRoutes } from './routes/tail.ts';
import { FairQueue } from './scheduling/fair-queue.ts';
import { registerQueueMetrics } from './scheduling/queue-metrics.ts';
import { ScheduledReads } from './scheduling/scheduled-reads.ts';
import type { TailLimits } from './tail/tail-limits.ts';

export type AppConfig = Pick<
  Config,
  | 'host'
  | 'publicUrl'
  | 'accessKeys'
  | 'maxConnections'
  | 'queryDeadlineMs'
  | 'exportDeadlineMs'
  | 'exportIdleMs'
  | 'memoryLimitMb'
  | 'retentionMs'
  | 'ingestMaxMb'
  | 'mappings'
> &
  UpstreamConfig;

export interface AppOptions {
  readonly store: EventStore;
  readonly config: AppConfig;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
  /** The reads of the store, in the queue that others share. Default: a queue of their own. */
  readonly reads?: ScheduledReads;
  /** Null where no Kafka is configured. */
  readonly kafka: KafkaSource | null;
  /** Absent: no rules of alerts are followed. */
  readonly alerts?: Alerts;
  /** Maps records of other products. Default: threads of its own, with the mappings of the configuration. */
  readonly mapping?: MappingThreads;
  /** Absent: the management operations are not served. */
  readonly edge?: Edge;
  /** How long a client may keep a request waiting for its whole body or, in uploads, for the next bytes of it, in milliseconds. */
  readonly bodyDeadlineMs?: number;
  /** What all bodies may hold until their end comes, in bytes. Default: BODY_MEMORY_BYTES. */
  readonly bodyMemoryBytes?: number;
  /** Default: one that is read when somebody first asks for it. */
  readonly page?: PageReader;
  /** Replaces some of the limits of the live tail. */
  readonly tailLimits?: Partial<TailLimits>;
}

/** Threads that map the records of one app, and end with it. */
function ownThreads(app: FastifyInstance, { mappings }: Pick<AppConfig, 'mappings'>): MappingThreads {
  const threads = new MappingThreads(configuredMappings(mappings));
  app.addHook('onClose', () => threads.close());
  return threads;
}

/** Builds the HTTP interface over a store. The caller listens, and closes the store after the app. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { store, config, now, logger, kafka, alerts, edge, bodyDeadlineMs = BODY_DEADLINE_MS, tailLimits = {} } = options;
  const { bodyMemoryBytes = BODY_MEMORY_BYTES, page = pageReader() } = options;
  const turns = new MainThreadTurns();
  const { reads = new ScheduledReads(store, new FairQueue()) } = options;
  const { maxConnections } = config;
  const connections = {
    maxConnections,
    onRefused: () => logger.warn({ maxConnections }, 'a connection was closed at once: there are as many as MAX_CONNECTIONS allows'),
  };
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    genReqId: () => randomUUID(),
    logController: new LogController({ disableRequestLogging: true }),
    // The stopping plugin answers in the shape of all other errors.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    serverFactory: (handler) => createHttpServer(handler, connections),
    clientErrorHandler: answerBrokenConnection,
    // Parameters may be as long as the headers allow. Each route refuses those that are too long for it.
    routerOptions: { maxParamLength: 16 * 1024 },
    // A path that cannot be decoded fails before a route is found.
    frameworkErrors: answerError,
  });
  const { mapping = ownThreads(app, config) } = options;
  const metrics = createMetrics({ store, kafka });
  registerQueueMetrics(metrics.registry, reads.queue);
  alerts?.registerMetrics(metrics.registry);
  const { answersShareMb, feedPagesShareMb } = memoryShares(config.memoryLimitMb);
  const answers = new AnswerMemory(answersShareMb * MEBIBYTE);
  const bodies = new BodyMemory({ capacityBytes: bodyMemoryBytes, deadlineMs: bodyDeadlineMs, callerOf: flowOf });
  const searches = new SearchAnswers({
    metrics,
    queryDeadlineMs: config.queryDeadlineMs,
    answerDeadlineMs: config.exportDeadlineMs,
    answers,
    turns,
  });
  const { retentionMs, ingestMaxMb, exportDeadlineMs, exportIdleMs } = config;
  const shared = { store, reads, searches, turns, metrics, mapping, bodies, now };
  const services: RouteServices = { ...shared, retentionMs, exportDeadlineMs, exportIdleMs };
  if (edge !== undefined) await app.register(requestHistory, { history: edge.history });
  await app.register(errorAnswers);
  await app.register(earlyRefusals, { bodies });
  await app.register(stopping);
  await app.register(access, { keys: config.accessKeys, publicUrl: config.publicUrl });
  await app.register(everyLocalhost, { host: config.host, connections });
  await app.register(healthRoutes, {
    store,
    kafka,
    queue: reads.queue,
    planeNotes: () => edge?.notes() ?? [],
    alertNotes: () => alerts?.notes() ?? [],
    isStopping: () => app.isStopping(),
  });
  await app.register(metricsRoutes, { metrics });
  await app.register(searchRoutes, services);
  await app.register(exploreRoutes, services);
  await app.register(exportRoutes, services);
  await app.register(tailRoutes, { ...services, limits: tailLimits });
  await app.register(feedRoutes, {
    store,
    reads,
    turns,
    metrics,
    queryDeadlineMs: config.queryDeadlineMs,
    pageMemoryBytes: feedPagesShareMb * MEBIBYTE,
  });
  const maxBytes = ingestMaxMb * 1024 * 1024;
  await app.register(ingestEventsRoutes, { ...services, maxBytes });
  await app.register(doorRoutes, services);
  await app.register(deadLetterRoutes, services);
  await app.register(backtestRoutes, services);
  await app.register(kafkaRoutes, { kafka, bodies });
  await app.register(alertRoutes, { keeper: alerts?.keeper ?? null, now, bodies });
  const state = { stateFiles: edge?.stateFiles ?? [], ...(alerts && { alertState: alerts.stateFile }) };
  await app.register(backupRoutes, { store, turns, ...state, idleMs: exportIdleMs, bodies });
  await app.register(checkRoutes, services);
  if (edge !== undefined) await app.register(edgeRoutes, { config, local: edge.plane, bodies });
  await app.register(openapiRoutes, { now, hasKeys: config.accessKeys.length > 0, publicUrl: config.publicUrl });
  await app.register(pageRoutes, { page });
  return app;
}
