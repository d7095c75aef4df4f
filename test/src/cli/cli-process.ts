import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '../../fixtures/eventually.ts';
import { programEnv } from '../../fixtures/program-env.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');

/** The program as a process of its own. */
export interface CliProcess {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit status when it has ended; null: by a signal. */
  readonly ended: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Starts `shieldlog` with these arguments in an environment that has nothing of this one's configuration. */
export function startCli(args: readonly string[], env: Readonly<Record<string, string>> = {}, input?: Uint8Array | string): CliProcess {
  return started(process.execPath, [MAIN, ...args], env, input);
}

/** Starts a command line of bash in which `shieldlog` with these arguments is `"$0" "$@"`, in the same environment. */
export function startPipeline(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
  return started('bash', ['--norc', '-c', command, process.execPath, MAIN, ...args], env);
}

function started(program: string, args: readonly string[], env: Readonly<Record<string, string>>, input?: Uint8Array | string): CliProcess {
  const child = spawn(program, args, { env: { ...programEnv(), MEMORY_LIMIT_MB: '256', ...env } });
  running.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  // A program that does not read its input closes it.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', (status) => {
      running.delete(child);
      resolve(status);
    });
  });
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

/** Runs `shieldlog` to its end. */
export async function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input?: Uint8Array | string,
): Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }> {
  const cli = startCli(args, env, input);
  const status = await cli.ended;
  return { status, stdout: cli.stdout(), stderr: cli.stderr() };
}

/** The address that a `serve` says it listens on. */
export async function addressOf(cli: CliProcess): Promise<string> {
  const told = (): string | undefined => /listening on (http:\/\/[^"\s]+)/.exec(cli.stderr())?.[1];
  await eventually('the program listens', () => {
    if (cli.child.exitCode !== null) throw new Error(`it ended with ${cli.child.exitCode}: ${cli.stderr()}`);
    return told() !== undefined;
  });
  return told() ?? '';
}

/** For `afterEach`: whatever is still running is killed, and gone when this resolves. */
export async function killAll(): Promise<void> {
  for (const child of running) child.kill('SIGKILL');
  await eventually('every program has ended', () => running.size === 0);
}
