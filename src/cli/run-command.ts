import { StoreError } from '../../store/store-error.ts';
import { ConfigError } from '../config/config.ts';
import { PRODUCT } from '../formats/product.ts';
import { ListenError } from '../http/listen.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus } from './command.ts';
import { UsageError } from './command-line.ts';
import { feedCommand } from './feed/feed-command.ts';
import { ingestCommand } from './ingest-command.ts';
import { printable } from './printable.ts';
import { serveCommand } from './serve-command.ts';
import { tokensCommand } from './tokens-command.ts';

const COMMANDS: readonly Command[] = [serveCommand, ingestCommand, feedCommand, tokensCommand];

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const list = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('');
  return `Usage: shieldlog COMMAND [flags]\n\n${list}\n'shieldlog COMMAND --help' tells more of one, 'shieldlog --version' which this is.\n`;
}

/** The exit status that an expected error stands for; null for a defect, which deserves its stack trace. */
function expected(error: unknown): ExitStatus | null {
  if (error instanceof UsageError || error instanceof ConfigError) return 2;
  return error instanceof StoreError || error instanceof ListenError || error instanceof CommandFailed ? 1 : null;
}

/** Runs the command that `args` (without node and script) name, and tells of errors on stderr. */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const [name, ...rest] = args;
  if (name === '--help' || name === '-h' || name === 'help') {
    io.stdout.write(overview());
    return 0;
  }
  if (name === '--version' || name === '-v' || name === 'version') {
    io.stdout.write(`${PRODUCT.name} ${PRODUCT.version}\n`);
    return 0;
  }
  const names = COMMANDS.map((command) => command.name).join(', ');
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) {
    const wrong = name === undefined ? 'no command is given' : `'${name}' is not a command`;
    io.stderr.write(`shieldlog: ${printable(wrong)}; there are: ${names}\n`);
    return 2;
  }
  if (rest.some((arg) => arg === '--help' || arg === '-h')) {
    io.stdout.write(command.help());
    return 0;
  }
  try {
    return await command.run(rest, io);
  } catch (error) {
    const status = expected(error);
    if (status === null) throw error;
    const { message } = error as Error;
    // Wrong settings are told one a line; in every other message a new line is somebody else's.
    const lines = error instanceof ConfigError ? message.split('\n') : [message];
    for (const line of lines) io.stderr.write(`shieldlog: ${printable(line)}\n`);
    return status;
  }
}
