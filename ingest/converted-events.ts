import type { EventBatch } from '../store/event-store.ts';
import { ChunkPool } from './chunk-pool.ts';
import { LineBuffer } from './line-buffer.ts';

/** Events as a batch holds them: in one buffer their canonical lines, in the other their packed logs, in the same order. Whoever adds an event adds to both. */
export class ConvertedEvents {
  readonly lines: LineBuffer;
  readonly logs: LineBuffer;

  constructor() {
    const pool = new ChunkPool();
    this.lines = new LineBuffer(pool);
    this.logs = new LineBuffer(pool);
  }

  get byteLength(): number {
    return this.lines.byteLength + this.logs.byteLength;
  }

  /** The events so far; there are none afterwards. */
  take(): Pick<EventBatch, 'lines' | 'logs'> {
    return { lines: this.lines.take(), logs: this.logs.take() };
  }

  /** Takes back the memory of events that were taken and that nobody reads any more. */
  release({ lines, logs }: Pick<EventBatch, 'lines' | 'logs'>): void {
    this.lines.release(lines);
    this.logs.release(logs);
  }
}
