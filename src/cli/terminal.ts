import cliProgress from 'cli-progress';

/** Matches controls (C0, DEL, C1), line and paragraph separators, and marks that change the direction of text. */
const CONTROLS = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Makes foreign text, such as a server's answer or a file name, safe for one line of a terminal: controls become escapes (`\u001b`). */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A progress bar for a stream of bytes. */
export interface UploadProgress {
  /** Counts the bytes that it passes on. */
  watch(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  stop(): void;
}

const MIB = 1024 * 1024;
const inMib = (sizeBytes: number): number => Math.round((sizeBytes / MIB) * 10) / 10;

/** Shows a bar if `terminal` is a terminal. With `sizeBytes` null, where the size is unknown, the bar shows only a count. */
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
