import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { startKafkaSource } from '../../ingest/kafka-source.ts';
import { silentLogger } from '../../store/store-logger.ts';
import { RETENTION_MS, storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';

async function sourceOf(brokers: readonly string[]) {
  const store = await storeIn(temporaryFolder());
  return startKafkaSource({
    kafka: { brokers, tls: false, sasl: null },
    topics: ['events'],
    groupId: 'test',
    store,
    now: Date.now,
    retentionMs: RETENTION_MS,
    logger: silentLogger,
  });
}

it('a broker that refuses connections is tried again and again, and health says so', async () => {
  // Port 1 of the loopback address: nobody listens there.
  const source = await sourceOf(['127.0.0.1:1']);
  expect(source.health()).toEqual({ ready: false, reasons: ['connecting to the Kafka brokers at 127.0.0.1:1'] });
  await expect.poll(() => source.health().reasons.join()).toContain('cannot be read from');
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
