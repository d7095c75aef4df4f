import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { type KafkaLogger, silentKafkaLogger } from '../../../ingest/kafka/kafka-connection.ts';
import { startKafkaSource } from '../../../ingest/kafka/kafka-source.ts';
import { MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';

async function sourceOf(brokers: readonly string[], logger: KafkaLogger = silentKafkaLogger) {
  const store = await storeIn(temporaryFolder());
  return startKafkaSource({
    kafka: { brokers, tls: null, sasl: null },
    topics: [{ pattern: 'events', mapping: null }],
    threads: new MappingThreads(new Map()),
    groupId: 'test',
    store,
    now: Date.now,
    retentionMs: RETENTION_MS,
    logger,
  });
}

it('a broker that refuses connections is tried again and again, and health says so', async () => {
  // Port 1 of the loopback address: nobody listens there.
  const source = await sourceOf(['127.0.0.1:1']);
  expect(source.reasonsNotReady()).toEqual(['connecting to the Kafka brokers at 127.0.0.1:1']);
  await expect.poll(() => source.reasonsNotReady().join()).toContain('cannot be read from');
  await expect.poll(() => source.counters().reconnects).toBeGreaterThan(1);
  await source.stop();
});

it('stops also while a broker accepts the connection and never answers', async () => {
  const silentServer = createServer(() => {});
  await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve));
  const { port } = silentServer.address() as { port: number };
  const source = await sourceOf([`127.0.0.1:${port}`]);
  await expect.poll(() => new Promise<number>((resolve) => silentServer.getConnections((_error, count) => resolve(count)))).toBe(1);
  await source.stop();
  silentServer.close();
});

it('a broker that is away is one line of the log a retry, with its stack at debug level only', async () => {
  const lines: { readonly level: string; readonly details: object; readonly message: string }[] = [];
  const log =
    (level: string) =>
    (details: object, message: string): void =>
      void lines.push({ level, details, message });
  const source = await sourceOf(['127.0.0.1:1'], { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') });
  await expect.poll(() => source.counters().reconnects).toBeGreaterThan(1);
  await source.stop();
  const shown = lines.filter(({ level }) => level !== 'debug');
  const why = 'the Kafka brokers at 127.0.0.1:1 cannot be read from: 127.0.0.1:1: Connection error: connect ECONNREFUSED 127.0.0.1:1';
  expect(shown.map(({ level, details, message }) => [level, details, message])).toEqual(
    shown.map((_line, index) => ['warn', { attempt: index + 1, retryInMs: expect.any(Number) }, why]),
  );
  expect(shown.length).toBeGreaterThanOrEqual(source.counters().reconnects);
  expect(shown.length).toBeLessThanOrEqual(source.counters().reconnects + 1);
  const errors = lines.filter(({ level, details }) => level === 'debug' && 'err' in details && 'attempt' in details);
  expect(errors).toHaveLength(shown.length);
});
