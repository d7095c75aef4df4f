import { move } from 'piscina';
import { type FeedFormat, type FeedFormatName, feedFormat } from '../formats/feed-format.ts';
import { writtenChunks } from './feed-chunks.ts';
import { type FormatTask, linesOf } from './format-task.ts';

// What a thread of the feed does: see `format-threads.ts`.

/** Each knows the hosts and actions that it has seen. */
const formats = new Map<FeedFormatName, FeedFormat>();

export default function formatLines(task: FormatTask): Uint8Array {
  const format = formats.get(task.format) ?? feedFormat(task.format);
  formats.set(task.format, format);
  const chunks = [...writtenChunks(linesOf(task), format)];
  // Not from the pool that small buffers share, which cannot be handed over.
  const written = Buffer.allocUnsafeSlow(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    at += chunk.copy(written, at);
  }
  return move(written) as Uint8Array;
}
