import { move } from 'piscina';
import { cached } from '../formats/bounded-cache.ts';
import { FEED_FORMATS, feedFormat } from '../formats/feed-format.ts';
import { writtenChunks } from './feed-chunks.ts';
import { type FormatTask, linesOf } from './format-task.ts';

// What a thread of the feed does: see `format-threads.ts`.

/** Each knows the hosts and actions that it has seen. */
const formatOf = cached(FEED_FORMATS.length, feedFormat);

export default function formatLines(task: FormatTask): Uint8Array {
  const chunks = [...writtenChunks(linesOf(task), formatOf(task.format))];
  // Not from the pool that small buffers share, which cannot be handed over.
  const written = Buffer.allocUnsafeSlow(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    at += chunk.copy(written, at);
  }
  return move(written) as Uint8Array;
}
