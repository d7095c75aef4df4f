import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { programEnv } from '../../fixtures/program-env.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');

/** A word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The program on a terminal of its own. */
export interface TerminalProcess {
  /** What the terminal has got so far, with escape sequences; lines end in CR LF. */
  shown(): string;
  /** Types keys, such as `\u0003` for Ctrl-C. */
  type(keys: string): void;
  /** Resolves with the exit status. */
  readonly ended: Promise<number | null>;
}

/** Runs `shieldlog` in a pseudo-terminal of so many columns, which util-linux's `script` opens. */
export function startOnTerminal(
  args: readonly string[],
  { columns, env = {} }: { readonly columns: number; readonly env?: Readonly<Record<string, string>> },
): TerminalProcess {
  const command = `stty cols ${columns} rows 24; exec ${[process.execPath, MAIN, ...args].map(quoted).join(' ')}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { env: { ...programEnv(), TERM: 'xterm-256color', ...env } });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk;
  });
  return {
    shown: () => shown,
    type: (keys) => child.stdin.write(keys),
    ended: new Promise((resolve) => child.on('close', resolve)),
  };
}
