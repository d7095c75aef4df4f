import { count, line, mib, ms } from '../report/figure-line.ts';
import { percentile } from '../report/percentile.ts';
import type { KafkaReport } from './kafka-subject-report.ts';

export interface KafkaCircumstances {
  readonly events: number;
  readonly bytes: number;
  readonly partitions: number;
  readonly codec: string;
}

/** The figures of reading from Kafka, once with nothing beside and once with searches, as text. */
export function kafkaFigures({ events, bytes, partitions, codec }: KafkaCircumstances, alone: KafkaReport, searched: KafkaReport): string {
  const rate = ({ elapsedMs }: KafkaReport) => count(events / (elapsedMs / 1000));
  const cpu = ({ cpuMicros }: KafkaReport) => `${(cpuMicros / events).toFixed(1)} µs`;
  const spread = (times: readonly number[], high: number) =>
    `p50 ${ms(percentile(times, 0.5))}, p${high * 100} ${ms(percentile(times, high))}`;
  return [
    `Kafka: ${count(events)} events of ${Math.round(bytes / events)} bytes, ${codec}, ${partitions} partitions`,
    line('events/s, broker to durable and searchable', rate(alone)),
    line('  with a search every 100 ms', rate(searched)),
    line('  those searches', `${spread(searched.searchMs, 0.95)} (${searched.searchMs.length} searches)`),
    line('  resident memory, peak', `${mib(alone.peakRssBytes)}; with searches ${mib(searched.peakRssBytes)}`),
    line('  CPU of the program, an event', `${cpu(alone)}; with searches ${cpu(searched)}`),
    line('  batches stored, pauses', `${count(alone.batches)}, ${count(alone.pauses)}`),
    line('from the start of the source to the first message', ms(alone.toFirstMs)),
    line('from produce to searchable, a single event', `${spread(alone.freshMs, 0.99)} (${alone.freshMs.length} events)`),
  ].join('\n');
}
