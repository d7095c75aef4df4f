import { count, line, mib, ms } from './figure-line.ts';
import type { KafkaReport } from './kafka-subject-report.ts';
import { percentile } from './percentile.ts';

export interface KafkaCircumstances {
  readonly events: number;
  readonly bytes: number;
  readonly partitions: number;
  readonly codec: string;
}

/** The figures of reading from Kafka as text. */
export function kafkaFigures({ events, bytes, partitions, codec }: KafkaCircumstances, report: KafkaReport): string {
  const { toFirstMs, elapsedMs, cpuMicros, searchMs, batches, pauses, peakRssBytes, freshMs } = report;
  const spread = (times: readonly number[], high: number) =>
    `p50 ${ms(percentile(times, 0.5))}, p${high * 100} ${ms(percentile(times, high))}`;
  return [
    `Kafka: ${count(events)} events of ${Math.round(bytes / events)} bytes, ${codec}, ${partitions} partitions`,
    line('events/s, broker to durable and searchable', count(events / (elapsedMs / 1000))),
    line('  searches meanwhile, one every 100 ms', `${spread(searchMs, 0.95)} (${searchMs.length} searches)`),
    line('  resident memory, peak', mib(peakRssBytes)),
    line('  CPU of the program', `${(cpuMicros / events).toFixed(1)} µs an event`),
    line('  batches stored, pauses', `${count(batches)}, ${count(pauses)}`),
    line('from the start of the source to the first message', ms(toFirstMs)),
    line('from produce to searchable, a single event', `${spread(freshMs, 0.99)} (${freshMs.length} events)`),
  ].join('\n');
}
