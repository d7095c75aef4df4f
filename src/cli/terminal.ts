import cliProgress from 'cli-progress';
import { printable, SHOWN_AS_ESCAPES } from '../../query/search-line.ts';

/** Matches the characters that are shown as escapes, but for tabs and the ends of lines. */
const CONTROLS_IN_LINES = new RegExp(`(?!\\t|\\n|\\r\\n)[${SHOWN_AS_ESCAPES}]`, 'gu');

/** The terminal behind each safe output. */
const BEHIND = new WeakMap<NodeJS.WriteStream, NodeJS.WriteStream>();

/**
 * Standard output for commands. On a terminal every text that is written, in UTF-8, becomes safe for it: controls become escapes, which say
 * the same within a string of JSON. Elsewhere it is the stream itself, and the bytes are as they are.
 */
export function safeOutput(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  if (!stdout.isTTY) return stdout;
  const decoder = new TextDecoder();
  const safe = (piece: Uint8Array | string): string => {
    const text = typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    return text.replaceAll(CONTROLS_IN_LINES, printable);
  };
  const write = (piece: Uint8Array | string, ...rest: readonly unknown[]): boolean => {
    const onWritten = rest.find((one) => typeof one === 'function') as ((error?: Error | null) => void) | undefined;
    return stdout.write(safe(piece), onWritten);
  };
  const output = new Proxy(stdout, {
    get(target, name) {
      if (name === 'write') return write;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  BEHIND.set(output, stdout);
  return output;
}

/** The terminal behind {@link safeOutput}, for what is safe already and has styles of its own; of another stream the stream itself. */
export function styledOutput(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  return BEHIND.get(stdout) ?? stdout;
}

/** A progress bar for a stream of bytes. */
export interface ByteProgress {
  /** Counts the bytes that it passes on. */
  watch<Chunk extends Uint8Array>(bytes: AsyncIterable<Chunk>): AsyncIterable<Chunk>;
  stop(): void;
}

const MIB = 1024 * 1024;
const sizeText = (sizeBytes: number): string =>
  sizeBytes < MIB ? `${Math.ceil(sizeBytes / 1024)} KiB` : `${Math.round((sizeBytes / MIB) * 10) / 10} MiB`;

function newBar(stream: NodeJS.WriteStream, format: string, options: cliProgress.Options = {}): cliProgress.SingleBar {
  const formatValue: cliProgress.ValueFormatter = (value, _options, type) =>
    type === 'total' || type === 'value' ? sizeText(value) : String(value);
  const all = { format, formatValue, stream, hideCursor: true, etaBuffer: 50, ...options };
  return new cliProgress.SingleBar(all, cliProgress.Presets.shades_classic);
}

/**
 * Shows a bar if `terminal` is a terminal. With `sizeBytes` null, where the size is unknown, it shows only a count, as what was `done`.
 */
export function startByteProgress(terminal: NodeJS.WriteStream | null, sizeBytes: number | null, done: 'sent' | 'received'): ByteProgress {
  if (terminal?.isTTY !== true) return { watch: (bytes) => bytes, stop: () => {} };
  const format = sizeBytes === null ? `${done} {value} in {duration_formatted}` : '{bar} {percentage}% of {total}, {eta_formatted} left';
  const bar = newBar(terminal, format);
  bar.start(sizeBytes ?? 0, 0);
  let sent = 0;
  return {
    async *watch(bytes) {
      for await (const chunk of bytes) {
        yield chunk;
        sent += chunk.byteLength;
        bar.update(sent);
      }
    },
    stop: () => bar.stop(),
  };
}

/** A progress bar for bytes whose total is told with each update. */
export interface ReadProgress {
  update(doneBytes: number, totalBytes: number): void;
  stop(): void;
}

/** Shows a bar from an update on until it is stopped, if `terminal` is a terminal. */
export function startReadProgress(terminal: NodeJS.WriteStream): ReadProgress {
  if (!terminal.isTTY) return { update: () => {}, stop: () => {} };
  const bar = newBar(terminal, 'checked {bar} {percentage}% of {total}, {eta_formatted} left', { clearOnComplete: true });
  let isShown = false;
  return {
    update(doneBytes, totalBytes) {
      if (!isShown) bar.start(totalBytes, doneBytes);
      isShown = true;
      bar.setTotal(totalBytes);
      bar.update(doneBytes);
    },
    stop() {
      if (isShown) bar.stop();
      isShown = false;
    },
  };
}
