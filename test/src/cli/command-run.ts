import process from 'node:process';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommand } from '../../../src/cli/run-command.ts';

/**
 * Runs `shieldlog` to its end in the process of the test, as in a pipe: for commands that refuse or print. What signals, terminals and
 * descriptors do to one needs a process (`cli-process.ts`).
 */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input: Uint8Array | string = '',
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const told = Promise.all([text(stdout), text(stderr)]);
  const umask = process.umask();
  try {
    const status = await runCommand(args, {
      env,
      stdin: Readable.from([Buffer.from(input)]),
      stdout: stdout as unknown as NodeJS.WriteStream,
      stderr: stderr as unknown as NodeJS.WriteStream,
    });
    stdout.end();
    stderr.end();
    const [out, err] = await told;
    return { status, stdout: out, stderr: err };
  } finally {
    // Commands that write to DATA_DIR change it for the rest of their process.
    process.umask(umask);
  }
}
