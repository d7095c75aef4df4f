import { type ReadonlySignal, signal } from '@preact/signals';
import { RequestFailed, send } from '../api/client.ts';
import { programNow } from '../api/program-clock.ts';
import type { OfferedColumn } from '../state/offered-columns.ts';
import type { Question } from '../state/question.ts';
import { say } from '../widgets/toast.ts';
import { hasByteOrderMark } from './byte-order-mark.ts';
import { copyStream, type FileTarget } from './copy-stream.ts';
import { exportBody, exportPath } from './export-request.ts';
import { type FileFormat, fileName } from './group-lines.ts';
import { openTarget } from './save-file.ts';

/** An export that is being written. */
export interface RunningExport {
  readonly name: string;
  readonly bytes: number;
}

const current = signal<RunningExport | null>(null);
let underWay = new AbortController();

/** One export runs at a time; null: none. */
export const runningExport: ReadonlySignal<RunningExport | null> = current;

/** Gives up the export; nothing of its file is left. */
export function cancelExport(): void {
  underWay.abort(new Error('The export was given up; nothing of it is stored'));
}

export const MEDIA_TYPES: Readonly<Record<FileFormat, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** Writes all events of a question into a file, of CSV with the given columns if there are any. What goes wrong is said on the page. */
export async function exportEvents(question: Question, format: FileFormat, columns: readonly OfferedColumn[] | null = null): Promise<void> {
  const name = fileName('events', question, format);
  underWay = new AbortController();
  const { signal } = underWay;
  try {
    const target = await openTarget(name);
    if (target === null) return;
    current.value = { name, bytes: 0 };
    await copyStream(await askedStream(question, { format, columns, target, signal }), target, {
      signal,
      onProgress: (bytes) => {
        current.value = { name, bytes };
      },
    });
    say(`Stored ${name}`);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const cause = signal.aborted ? signal.reason : error;
    say(
      error instanceof RequestFailed || signal.aborted
        ? cause.message
        : `The export broke off, and nothing of it is stored: ${cause.message}`,
    );
  } finally {
    current.value = null;
  }
}

interface Asked {
  readonly format: FileFormat;
  readonly columns: readonly OfferedColumn[] | null;
  readonly target: FileTarget;
  readonly signal: AbortSignal;
}

/** The answer to the request for an export; where there is none, nothing of the file is left. */
async function askedStream(
  question: Question,
  { format, columns, target, signal }: Asked,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  try {
    const call = { signal, body: exportBody(question, programNow()), accept: MEDIA_TYPES[format] };
    const path = exportPath(question, { columns, hasByteOrderMark: format === 'csv' && hasByteOrderMark.peek() });
    const { body } = await send(path, call);
    if (body === null) throw new Error('the answer has no body');
    return body;
  } catch (error) {
    await Promise.allSettled([target.discard()]);
    throw error;
  }
}
