import process from 'node:process';
import type { Mapping } from '../../../ingest/mapping/mapping.ts';
import { type RecordTask, startWork as startRecordWork } from '../../../ingest/upload/record-worker.ts';

/** A record that ends the thread of whatever it comes to, and one that ends the thread that maps what is left of a body. */
export const ENDS_THREAD = 'END THE THREAD';
export const ENDS_LATER = 'END IT LATER...';
/** A record for which the heap of a thread has no room. */
export const FILLS_HEAP = 'FILL THE HEAP.';

/** Does what `record-worker.ts` does, but for bodies and batches that have those records, as they are or in base64. */
export function startWork(mappings: ReadonlyMap<string, Mapping>): ReturnType<typeof startRecordWork> {
  const work = startRecordWork(mappings);
  return (task) => {
    const bytes = Buffer.from(bytesOf(task));
    const has = (record: string): boolean => bytes.includes(record) || bytes.includes(Buffer.from(record).toString('base64'));
    if (has(ENDS_THREAD) || ('rest' in task && has(ENDS_LATER))) process.exit(1);
    if (has(FILLS_HEAP)) for (const all: unknown[] = []; ; ) all.push(new Array(1_000_000).fill(all.length + 0.5));
    return work(task);
  };
}

function bytesOf(task: RecordTask): Uint8Array {
  if ('envelope' in task) return task.body;
  return 'rest' in task ? task.rest.bytes : task.batch.bytes;
}
