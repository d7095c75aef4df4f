import type { EventBatch } from '../../store/event-store.ts';
import { ownChunks } from './chunk-pool.ts';
import { ColumnWriter } from './column-writer.ts';
import { LineBuffer } from './line-buffer.ts';

/** Of all collectors of the thread together: most uploads are over before they could use a chunk twice. */
const POOL = ownChunks();

/** Events as a batch holds them: their fields as columns and their packed logs, in the same order. Each event is added to both. */
export class EventCollector {
  readonly fields = new ColumnWriter(POOL);
  readonly logs = new LineBuffer(POOL);
  /** The number of the events. Whoever adds an event to `fields` and `logs` adds one here. */
  count = 0;

  get byteLength(): number {
    return this.fields.byteLength + this.logs.byteLength;
  }

  /** Returns the events so far and forgets them. */
  take(): Pick<EventBatch, 'fields' | 'logs' | 'eventCount'> {
    const eventCount = this.count;
    this.count = 0;
    return { fields: this.fields.take(), logs: this.logs.take(), eventCount };
  }

  /** Takes back the memory of events that were taken and that nobody reads any more. */
  release({ fields, logs }: Pick<EventBatch, 'fields' | 'logs'>): void {
    for (const chunk of [...fields.values.flat(), ...fields.masks, ...logs]) {
      POOL.giveBack(chunk);
    }
  }
}
