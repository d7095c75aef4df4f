import { expect, test } from 'vitest';
import { kafkaFigures } from '../../../bench/subjects/measure-kafka.ts';

test('the figures of reading from Kafka tell events a second, memory, and how soon a single event is searchable', () => {
  const freshMs = Array.from({ length: 100 }, (_, index) => index + 101);
  const report = {
    toFirstMs: 400,
    elapsedMs: 2_000,
    cpuMicros: 2_500_000,
    searchMs: [20, 30],
    batches: 10,
    pauses: 3,
    peakRssBytes: 600 * 1024 * 1024,
    freshMs,
  };
  const text = kafkaFigures({ events: 100_000, bytes: 114_000_000, partitions: 4, codec: 'lz4' }, report, { ...report, elapsedMs: 4_000 });
  expect(text).toContain('Kafka: 100,000 events of 1140 bytes, lz4, 4 partitions');
  expect(text).toMatch(/^events\/s, broker to durable and searchable +50,000$/m);
  expect(text).toMatch(/^ {2}with a search every 100 ms +25,000$/m);
  expect(text).toMatch(/^ {2}resident memory, peak +600 MiB; with searches 600 MiB$/m);
  expect(text).toMatch(/^ {2}CPU of the program, an event +25\.0 µs; with searches 25\.0 µs$/m);
  expect(text).toMatch(/^from produce to searchable, a single event +p50 150 ms, p99 199 ms \(100 events\)$/m);
});
