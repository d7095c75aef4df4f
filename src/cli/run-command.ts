import { printable } from '../../query/search-line.ts';
import { IncompatibleStore, StoreError } from '../../store/store-error.ts';
import { ConfigError } from '../config/config.ts';
import { PRODUCT } from '../formats/product.ts';
import { ListenError } from '../http/listen.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, UsageError } from './command.ts';
import { safeOutput } from './terminal.ts';

/** The commands, with what the list of them says of each. Only the one that runs is loaded, because all of them take half a second. */
const COMMANDS: readonly (readonly [name: string, summary: string, load: () => Promise<Command>])[] = [
  ['serve', 'run the program: take events in, answer searches', async () => (await import('./serve-command.ts')).serveCommand],
  [
    'ingest',
    'send files of events to a running program, and what is appended to them',
    async () => (await import('./ingest/ingest-command.ts')).ingestCommand,
  ],
  ['search', 'show the events that a search finds', async () => (await import('./search/search-command.ts')).searchCommand],
  [
    'groups',
    'count the events that a search finds by the values of fields',
    async () => (await import('./search/search-command.ts')).groupsCommand,
  ],
  ['tail', 'show the events that a search finds as they come in', async () => (await import('./search/tail-command.ts')).tailCommand],
  [
    'export',
    'write every event that a search finds as CSV or NDJSON',
    async () => (await import('./search/export-command.ts')).exportCommand,
  ],
  [
    'feed',
    'pass the events of a running program on to a file, a SIEM, standard output',
    async () => (await import('./feed/feed-command.ts')).feedCommand,
  ],
  [
    'mappings',
    'show and try how records of other products become events',
    async () => (await import('./mappings-command.ts')).mappingsCommand,
  ],
  [
    'alerts',
    'try the rules of alerts, on examples or on stored events, and their receivers',
    async () => (await import('./alerts-command.ts')).alertsCommand,
  ],
  [
    'kafka',
    'go past a batch of Kafka that cannot be decoded, or read a topic again',
    async () => (await import('./kafka-command.ts')).kafkaCommand,
  ],
  [
    'migrate',
    'bring the tables of a store on ClickHouse to the version of this program',
    async () => (await import('./migrate-command.ts')).migrateCommand,
  ],
  [
    'clickhouse',
    'show or change the settings that all programs of a store on ClickHouse have alike',
    async () => (await import('./clickhouse-command.ts')).clickhouseCommand,
  ],
  ['backup', 'copy the data folder of a running program', async () => (await import('./backup/backup-command.ts')).backupCommand],
  ['check', 'look for damage in a data folder, and repair it', async () => (await import('./check-command.ts')).checkCommand],
  ['tokens', 'make, replace or list the access tokens of the database', async () => (await import('./tokens-command.ts')).tokensCommand],
];

function overview(): string {
  const width = Math.max(...COMMANDS.map(([name]) => name.length));
  const list = COMMANDS.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}\n`).join('');
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
  const names = COMMANDS.map(([known]) => known).join(', ');
  const command = await COMMANDS.find(([known]) => known === name)?.[2]();
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
