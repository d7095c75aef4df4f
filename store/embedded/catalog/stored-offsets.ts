import type { SourceOffset } from '../../event-store.ts';

/**
 * The next offset of each Kafka partition of which anything was ever stored. The catalog keeps those of flushed events, and each journal
 * those of its own; a start reads both. Nothing removes an offset, not even that of a deleted topic; that a topic was made anew is
 * recognised in `kafka-partition.ts`, by the id that an offset carries.
 */
export class StoredOffsets {
  readonly #byTopic = new Map<string, Map<number, SourceOffset>>();

  constructor(sourceOffsets: readonly SourceOffset[]) {
    this.move(sourceOffsets);
  }

  get(topic: string, partition: number): SourceOffset | undefined {
    return this.#byTopic.get(topic)?.get(partition);
  }

  move(sourceOffsets: readonly SourceOffset[]): void {
    for (const sourceOffset of sourceOffsets) {
      const { topic, partition } = sourceOffset;
      const partitions = this.#byTopic.get(topic) ?? new Map<number, SourceOffset>();
      this.#byTopic.set(topic, partitions.set(partition, sourceOffset));
    }
  }

  list(): SourceOffset[] {
    return [...this.#byTopic.values()].flatMap((partitions) => [...partitions.values()]);
  }
}
