/** Where the bytes of a file go. Nothing of it is left after `discard`. */
export interface FileTarget {
  readonly write: (bytes: Uint8Array<ArrayBuffer>) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly discard: () => Promise<void>;
  /** The most bytes that it takes; null: as many as the disk does. */
  readonly mostBytes: number | null;
}

/** A file is longer than its target takes. */
class FileTooLong extends Error {
  override readonly name = 'FileTooLong';
}

/**
 * Writes a stream into a file, as fast as the target takes it. Where the stream breaks off, the signal aborts or the target is full, it
 * throws and nothing of the file is left; a file that was cut short would look like a whole one.
 */
export async function copyStream(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  target: FileTarget,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (bytes: number) => void },
): Promise<void> {
  const reader = stream.getReader();
  let length = 0;
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      signal.throwIfAborted();
      length += piece.value.length;
      if (target.mostBytes !== null && length > target.mostBytes) throw tooLong(target.mostBytes);
      await target.write(piece.value);
      onProgress(length);
    }
    await target.close();
  } catch (error) {
    await Promise.allSettled([reader.cancel(error), target.discard()]);
    throw error;
  }
}

function tooLong(mostBytes: number): FileTooLong {
  const mebibytes = Math.round(mostBytes / 1024 / 1024);
  return new FileTooLong(
    `This browser cannot write to disk from a page, and the file is longer than the ${mebibytes} MiB that are kept in memory. ` +
      'Choose a shorter time, or copy the export as a curl command',
  );
}
