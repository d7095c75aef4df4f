export type Encoding = 'identity' | 'gzip' | 'zstd';

const MAGIC: readonly (readonly [Encoding, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
];

/** How a file is compressed, told from its first bytes: names lie, and standard input has none. No JSON begins with these bytes. */
export function detectEncoding(first: Uint8Array): Encoding {
  return MAGIC.find(([, magic]) => magic.every((byte, index) => first[index] === byte))?.[0] ?? 'identity';
}

/** The first four bytes of a stream (fewer where it is shorter), and the whole stream, those bytes included. */
export async function firstBytesOf(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly first: Uint8Array; readonly whole: AsyncIterable<Uint8Array> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  let ended = false;
  while (first.length < 4 && !ended) {
    const next = await iterator.next();
    if (next.done === true) ended = true;
    else first = Buffer.concat([first, next.value]);
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    if (first.length > 0) yield first;
    while (!ended) {
      const next = await iterator.next();
      if (next.done === true) return;
      yield next.value;
    }
  }
  return { first, whole: whole() };
}
