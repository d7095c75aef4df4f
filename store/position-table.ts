import type { SourcePosition } from './event-store.ts';

/** The next offset of every Kafka partition that anything was ever stored of. */
export class PositionTable {
  readonly #byTopic = new Map<string, Map<number, bigint>>();

  constructor(positions: readonly SourcePosition[]) {
    this.move(positions);
  }

  get(topic: string, partition: number): bigint | undefined {
    return this.#byTopic.get(topic)?.get(partition);
  }

  move(positions: readonly SourcePosition[]): void {
    for (const { topic, partition, nextOffset } of positions) {
      const partitions = this.#byTopic.get(topic) ?? new Map<number, bigint>();
      this.#byTopic.set(topic, partitions.set(partition, nextOffset));
    }
  }

  list(): SourcePosition[] {
    return [...this.#byTopic].flatMap(([topic, partitions]) =>
      [...partitions].map(([partition, nextOffset]) => ({ topic, partition, nextOffset })),
    );
  }
}
