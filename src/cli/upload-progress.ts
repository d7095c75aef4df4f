import cliProgress from 'cli-progress';

/** A progress bar for bytes that pass by. */
export interface UploadProgress {
  /** Hands the bytes on and counts them. */
  watch(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  stop(): void;
}

const MIB = 1024 * 1024;
const inMib = (sizeBytes: number): number => Math.round((sizeBytes / MIB) * 10) / 10;

/** Shows a bar while `terminal` is one, and nothing otherwise. `sizeBytes` null: the size is not known, only a count is shown. */
export function startUploadProgress(terminal: NodeJS.WriteStream, sizeBytes: number | null): UploadProgress {
  if (!terminal.isTTY) return { watch: (bytes) => bytes, stop: () => {} };
  const format =
    sizeBytes === null ? 'sent {value} MiB in {duration_formatted}' : '{bar} {percentage}% of {total} MiB, {eta_formatted} left';
  const bar = new cliProgress.SingleBar({ format, stream: terminal, hideCursor: true, etaBuffer: 50 }, cliProgress.Presets.shades_classic);
  bar.start(inMib(sizeBytes ?? 0), 0);
  let sent = 0;
  return {
    async *watch(bytes) {
      for await (const chunk of bytes) {
        yield chunk;
        sent += chunk.byteLength;
        bar.update(inMib(sent));
      }
    },
    stop: () => bar.stop(),
  };
}
