import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { explainBlock } from '../../../ingest/kafka/blocked-partition.ts';
import { silentKafkaLogger } from '../../../ingest/kafka/kafka-connection.ts';
import { type KafkaSource, startKafkaSource } from '../../../ingest/kafka/kafka-source.ts';
import { MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { derived } from '../../fixtures/derived.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';
import { waitingSource } from '../waiting-source.ts';

let app: RunningApp;
let kafka: KafkaSource | undefined;

afterEach(async () => {
  await app.stop();
  await kafka?.stop();
  kafka = undefined;
});

describe('health', () => {
  test('is alive and ready without Kafka', async () => {
    app = await startApp();
    expect((await ask(app, '/healthz')).body).toEqual({ status: 'alive' });
    const asked = async () => {
      const { status, headers, body } = await ask(app, '/readyz');
      return [status, body, headers.get('cache-control')];
    };
    await expect.poll(asked).toEqual([200, { status: 'ready', reasons: [] }, 'no-store']);
  });

  test('is alive and not ready, with the reason, while Kafka cannot be reached', async () => {
    const store = await startApp();
    kafka = startKafkaSource({
      kafka: { brokers: ['127.0.0.1:1'], tls: null, sasl: null },
      topics: [{ pattern: 'none', mapping: null }],
      threads: new MappingThreads(new Map()),
      groupId: 'none',
      store: store.store,
      now: Date.now,
      retentionMs: 3_600_000,
      logger: silentKafkaLogger,
    });
    app = await startApp({ kafka });
    const asked = async () => {
      const { status, body } = await ask(app, '/readyz');
      return [status, body.status, body.reasons.every((reason: string) => reason.startsWith('kafka: '))];
    };
    await expect.poll(asked).toEqual([503, 'not ready', true]);
    expect((await ask(app, '/healthz')).status).toBe(200);
    expect((await ask(app, '/metrics')).text).toMatch(/^shieldlog_kafka_ready 0$/m);
    await kafka.stop();
    await store.stop();
  });

  test('is ready while a partition waits, and names it to whoever watches the program', async () => {
    const place = { topic: 'shield', partition: 3, offset: 1_204n, reason: 'has a wrong CRC-32C', next: 1_904n };
    app = await startApp({ kafka: waitingSource([place]), env: { ACCESS_KEYS: 'all:key-of-every-zone-1:*' } });
    const asked = async (headers: Readonly<Record<string, string>>) => {
      const { status, body } = await ask(app, '/readyz', { headers });
      return [status, body];
    };
    await expect.poll(() => asked({})).toEqual([200, { status: 'ready', reasons: ['kafka.blocked'] }]);
    await expect
      .poll(() => asked({ accesskey: 'key-of-every-zone-1' }))
      .toEqual([200, { status: 'ready', reasons: [`kafka: ${explainBlock(place)}`] }]);
  });

  test('is ready while a transaction hangs, and names it to whoever watches the program', async () => {
    const transaction = { topic: 'shield', partition: 3, offset: 1_204n, end: 1_904n, sinceMs: Date.UTC(2026, 4, 12, 15, 30) };
    app = await startApp({ kafka: waitingSource([], [transaction]), env: { ACCESS_KEYS: 'all:key-of-every-zone-1:*' } });
    const asked = async (headers: Readonly<Record<string, string>>) => {
      const { status, body } = await ask(app, '/readyz', { headers });
      return [status, body];
    };
    await expect.poll(() => asked({})).toEqual([200, { status: 'ready', reasons: ['kafka.transaction_hangs'] }]);
    const words =
      'kafka: topic shield partition 3 is read up to offset 1204 and not to its end 1904: a transaction has been open there since ' +
      '2026-05-12T15:30:00.000Z; it goes on when the producer commits or aborts it, or after kafka-transactions.sh abort';
    await expect.poll(() => asked({ accesskey: 'key-of-every-zone-1' })).toEqual([200, { status: 'ready', reasons: [words] }]);
  });

  test('is not ready while the program stops', async () => {
    app = await startApp();
    // Begun before the end: a connection without a request is closed at once, and no other is let in.
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n');
    await expect.poll(async () => (await ask(app, '/readyz')).status).toBe(200);
    const closed = app.app.close();
    await eventually('the program stops', () => app.app.isStopping() && !app.app.server.listening);
    socket.write('Connection: close\r\n\r\n');
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    expect(head).toContain('HTTP/1.1 503 ');
    expect(JSON.parse(body)).toEqual({ status: 'not ready', reasons: ['the program is stopping'] });
    await closed;
  });
});

describe('/metrics', () => {
  test('shows the store, the searches, the event loop and the memory', async () => {
    app = await startApp();
    let answer = await ask(app, '/metrics');
    const told = async () => {
      answer = await ask(app, '/metrics');
      return answer.text;
    };
    // On a busy machine ClickHouse may not answer in time for a while.
    await expect.poll(told).toContain('\nshieldlog_store_reachable 1\n');
    const { headers, text: metrics } = answer;
    expect(headers.get('content-type')).toContain('text/plain');
    for (const name of [
      'shieldlog_events',
      'shieldlog_stored_events_total',
      'shieldlog_expired_events_total',
      'shieldlog_duplicate_events_total',
      'shieldlog_dead_letters',
      'shieldlog_segments',
      'shieldlog_pending_bytes',
      'nodejs_eventloop_lag_seconds',
      'process_resident_memory_bytes',
    ]) {
      expect(metrics).toMatch(new RegExp(`^${name} [\\d.e+-]+$`, 'm'));
    }
  });

  test('counts an event that comes again among the duplicates, not among the stored', async () => {
    app = await startApp();
    const lines = eventLine({ logId: 'a' }) + eventLine({ logId: 'b' });
    for (const body of [lines, lines, eventLine({ logId: 'c' })]) await ingest(app, body);
    const { text: metrics } = await ask(app, '/metrics');
    expect(metrics).toContain(`\nshieldlog_stored_events_total ${derived.storedTotal(3, 2)}\n`);
    expect(metrics).toContain(`\nshieldlog_duplicate_events_total ${derived.duplicatesTotal(2)}\n`);
  });

  test('of two apps in one process do not meet', async () => {
    app = await startApp();
    const other = await startApp();
    expect((await ask(other, '/metrics')).status).toBe(200);
    await other.stop();
  });
});
