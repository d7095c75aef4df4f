import type { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CommandIo, ExitStatus } from './command.ts';

/**
 * Lets the process outlive that its outputs cannot be written, such as on a full disk, or where nobody reads a pipe any more: an `error`
 * that nothing listens to would end it. Lines of standard error are lost until they can be written again. Returns what makes of the status
 * of a command that of the process: what is lost of the output of a command that went well is told, and is status 1.
 */
export function outliveOutputs({ stdout, stderr }: Pick<CommandIo, 'stdout' | 'stderr'>): (status: ExitStatus) => Promise<ExitStatus> {
  let fault: NodeJS.ErrnoException | null = null;
  stderr.on('error', () => {});
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    fault ??= error;
  });
  const lost = (): NodeJS.ErrnoException | null => fault;
  return async (status) => {
    // The error of a write comes after it.
    await nextTurn();
    const error = lost();
    // Who closes a pipe has read enough.
    if (status !== 0 || error === null || error.code === 'EPIPE') return status;
    stderr.write(`shieldlog: standard output cannot be written: ${error.message}\n`);
    return 1;
  };
}

/** So much of a log may wait for whoever reads it. */
export const MOST_WAITING_BYTES = 1024 * 1024;

/**
 * Writes the lines of a log. Node keeps all that the reader of a pipe does not take, so lines beyond that are lost where he hangs, and are
 * counted in the log once he reads on.
 */
export function boundedLog(output: Writable): { write(line: string): void } {
  let lines = 0;
  return {
    write: (line) => {
      const bytes = Buffer.from(line);
      // One line alone may be longer.
      if (output.writableLength > 0 && output.writableLength + bytes.length > MOST_WAITING_BYTES) {
        lines += 1;
        return;
      }
      const msg = 'lines of the log were lost, because more waited for its reader than may';
      if (lines > 0) output.write(`${JSON.stringify({ level: 40, time: Date.now(), lines, msg })}\n`);
      lines = 0;
      output.write(bytes);
    },
  };
}
