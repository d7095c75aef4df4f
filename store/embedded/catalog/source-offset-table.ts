import type { SourceOffset } from '../../event-store.ts';

/** The next offset of every Kafka partition that anything was ever stored of. */
export class SourceOffsetTable {
  readonly #byTopic = new Map<string, Map<number, bigint>>();

  constructor(sourceOffsets: readonly SourceOffset[]) {
    this.move(sourceOffsets);
  }

  get(topic: string, partition: number): bigint | undefined {
    return this.#byTopic.get(topic)?.get(partition);
  }

  move(sourceOffsets: readonly SourceOffset[]): void {
    for (const { topic, partition, nextOffset } of sourceOffsets) {
      const partitions = this.#byTopic.get(topic) ?? new Map<number, bigint>();
      this.#byTopic.set(topic, partitions.set(partition, nextOffset));
    }
  }

  list(): SourceOffset[] {
    return [...this.#byTopic].flatMap(([topic, partitions]) =>
      [...partitions].map(([partition, nextOffset]) => ({ topic, partition, nextOffset })),
    );
  }
}
