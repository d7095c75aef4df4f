import { expect, test } from 'vitest';
import { FollowedStream, MAX_STREAMED_LINE_BYTES } from '../../../../src/cli/ingest/followed-stream.ts';

/** What is sent of a stream of these chunks. */
async function sentOf(chunks: Iterable<Uint8Array>): Promise<string> {
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const followed = new FollowedStream(stream());
  let text = '';
  while (!followed.isDone) {
    const batch = await followed.next();
    if (batch === null) continue;
    for await (const bytes of batch.bytes) text += Buffer.from(bytes).toString();
    await followed.accepted();
  }
  return text;
}

test('NULs before a line are dropped before its length is counted', async () => {
  const nuls = Buffer.alloc(1024 * 1024);
  function* chunks(): Generator<Uint8Array> {
    yield Buffer.from('a\n\0\0');
    for (let bytes = 0; bytes <= MAX_STREAMED_LINE_BYTES; bytes += nuls.length) yield nuls;
    yield Buffer.from('\0b');
    yield Buffer.from('\0c\n\0');
  }
  expect(await sentOf(chunks())).toBe('a\nb\0c\n');
});
