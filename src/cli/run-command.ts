import { printable } from '../../query/search-line.ts';
import { IncompatibleStore, StoreError } from '../../store/store-error.ts';
import { ConfigError } from '../config/config.ts';
import { PRODUCT } from '../formats/product.ts';
import { ListenError } from '../http/listen.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { alertsCommand } from './alerts-command.ts';
import { backupCommand } from './backup/backup-command.ts';
import { checkCommand } from './check-command.ts';
import { clickhouseCommand } from './clickhouse-command.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, UsageError } from './command.ts';
import { feedCommand } from './feed/feed-command.ts';
import { ingestCommand } from './ingest/ingest-command.ts';
import { kafkaCommand } from './kafka-command.ts';
import { mappingsCommand } from './mappings-command.ts';
import { migrateCommand } from './migrate-command.ts';
import { exportCommand } from './search/export-command.ts';
import { groupsCommand, searchCommand } from './search/search-command.ts';
import { tailCommand } from './search/tail-command.ts';
import { serveCommand } from './serve-command.ts';
import { safeOutput } from './terminal.ts';
import { tokensCommand } from './tokens-command.ts';

const COMMANDS: readonly Command[] = [
  serveCommand,
  ingestCommand,
  searchCommand,
  groupsCommand,
  tailCommand,
  exportCommand,
  feedCommand,
  mappingsCommand,
  alertsCommand,
  kafkaCommand,
  migrateCommand,
  clickhouseCommand,
  backupCommand,
  checkCommand,
  tokensCommand,
];

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const list = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).join('');
  const hint = "'shieldlog COMMAND --help' tells more of one, 'shieldlog --version' which this is.";
  return `Usage: shieldlog COMMAND [flags]\n\n${list}\n${hint}\n`;
}

/** The exit status of an expected error; null for a defect, whose stack trace is shown. */
function expected(error: unknown): ExitStatus | null {
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof IncompatibleStore) return 2;
  return [StoreError, ListenError, DeliveryError, CommandFailed].some((one) => error instanceof one) ? 1 : null;
}

/** Behind `--` stand words, not flags. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === '--help' || arg === '-h');
}

/**
 * Runs the command that `args` (without node and script) name, and writes its errors to stderr. What commands write to a terminal does
 * nothing there, whoever wrote the text.
 */
export async function runCommand(args: readonly string[], given: CommandIo): Promise<ExitStatus> {
  const io = { ...given, stdout: safeOutput(given.stdout) };
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
  if (asksForHelp(rest)) {
    io.stdout.write(command.help());
    return 0;
  }
  try {
    return await command.run(rest, io);
  } catch (error) {
    const status = expected(error);
    if (status === null) throw error;
    const { message } = error as Error;
    // ConfigError has a line for each wrong setting. A newline in another message comes from foreign text.
    const lines = error instanceof ConfigError ? message.split('\n') : [message];
    for (const line of lines) io.stderr.write(`shieldlog: ${printable(line)}\n`);
    if (error instanceof UsageError) for (const line of error.below) io.stderr.write(`${line}\n`);
    return status;
  }
}
