import type { EventBatch } from '../../store/event-store.ts';
import { ChunkPool } from './chunk-pool.ts';
import { ColumnWriter } from './column-writer.ts';
import { LineBuffer } from './line-buffer.ts';

/** Events as a batch holds them: their fields as columns and their packed logs, in the same order. Whoever adds an event adds to both. */
export class ConvertedEvents {
  readonly fields: ColumnWriter;
  readonly logs: LineBuffer;

  constructor() {
    const pool = new ChunkPool();
    this.fields = new ColumnWriter(pool);
    this.logs = new LineBuffer(pool);
  }

  get byteLength(): number {
    return this.fields.byteLength + this.logs.byteLength;
  }

  /** The events so far; there are none afterwards. */
  take(): Pick<EventBatch, 'fields' | 'logs'> {
    return { fields: this.fields.take(), logs: this.logs.take() };
  }

  /** Takes back the memory of events that were taken and that nobody reads any more. */
  release({ fields, logs }: Pick<EventBatch, 'fields' | 'logs'>): void {
    this.fields.release(fields);
    this.logs.release(logs);
  }
}
