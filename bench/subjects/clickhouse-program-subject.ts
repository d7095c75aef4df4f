// The program with its store on ClickHouse, in a separate process. It is started with its order as JSON in the first argument, sends its
// address, and ends when its parent disconnects.
import { once } from 'node:events';
import { pino } from 'pino';
import { HOUR_MS } from '../../query/durations.ts';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openClickhouseStore } from '../../store/clickhouse/open-store.ts';
import type { ClickhouseAddress } from '../../store/clickhouse/server/connection.ts';
import { BENCH_NOW_MS } from '../events/event-file.ts';

const RETENTION_MS = 72 * HOUR_MS;

const address = JSON.parse(process.argv[2] ?? '{}') as ClickhouseAddress;
const now = () => BENCH_NOW_MS;
const logger = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }));
const store = await openClickhouseStore({ address, retentionMs: RETENTION_MS, now, logger });
const app = await buildApp({ store, config: loadConfig({}), now, logger, kafka: null });
process.send?.(await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' }));
await once(process, 'disconnect');
await app.close();
await store.close();
