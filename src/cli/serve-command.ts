import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DestinationStream, pino } from 'pino';
import { printable } from '../../query/search-line.ts';
import { isDataDirSet, loadConfig } from '../config/config.ts';
import { CONFIG_VARIABLES, flagOf, flagsOf } from '../config/config-table.ts';
import { misspelledSettings } from '../config/misspelled-settings.ts';
import { fileFlagOf, fileVariableOf } from '../config/setting-text.ts';
import { STOP_LIMITS, StopOverdue, stopAll } from '../stop-all.ts';
import { type Command, type CommandIo, type ExitStatus, OWNER_ONLY, parseCommandLine, UsageError } from './command.ts';
import { boundedLog } from './lost-output.ts';
import { endProcess, stopSignals } from './stop-signals.ts';

const DESCRIPTION = `Takes events in from Kafka and HTTP and answers searches. Each flag has the name of an environment
variable; a flag wins over its variable.`;

function flagHelp(): string {
  return CONFIG_VARIABLES.map(({ name, about, allowed, default: standard, secret }) => {
    const unset = standard === null || standard === '' ? '' : ` (default ${standard})`;
    const inFile = secret ? `      Or the name of a file that holds it: --${fileFlagOf(flagOf(name))}, ${fileVariableOf(name)}.\n` : '';
    return `  --${flagOf(name)}, ${name}${unset}\n      ${about}.\n      Allowed: ${allowed}.\n${inFile}`;
  }).join('');
}

/** Writes log lines as JSON, or readably on a terminal. Each line is written at once, so that none is lost when the program ends. */
async function logDestination(stderr: CommandIo['stderr']): Promise<DestinationStream> {
  if (!stderr.isTTY) return boundedLog(stderr);
  // Imported here, because only a terminal needs it.
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({ colorize: stderr.hasColors(), translateTime: 'SYS:HH:MM:ss', singleLine: true });
  // Values may hold text of brokers and upstreams. Newlines stay, for stack traces.
  const shown = (value: unknown): unknown => (typeof value === 'string' ? value.split('\n').map(printable).join('\n') : value);
  return { write: (line) => stderr.write(format(JSON.parse(line, (_name, value) => shown(value)))) };
}

/** Returns the address with loopback instead of "all interfaces", which a browser cannot open. */
function browserAddress(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Ends the process if a step of the stop hangs. Throws any other error. */
function giveUp(error: unknown, { stderr }: CommandIo): void {
  if (!(error instanceof StopOverdue)) throw error;
  stderr.write(`shieldlog: ${error.message}\n`);
  endProcess(1);
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, positionals } = parseCommandLine(args, CONFIG_VARIABLES.flatMap(flagsOf));
  if (positionals[0] !== undefined) throw new UsageError(`Unexpected argument '${positionals[0]}'; serve takes only flags`);
  const loaded = loadConfig(io.env, flags);
  const logger = pino({ level: loaded.logLevel, base: null }, await logDestination(io.stderr));
  for (const line of misspelledSettings(io.env, flags)) logger.warn({}, line);
  const signals = stopSignals(process);
  process.umask(OWNER_ONLY);
  const temporaryFolder = loaded.demoFile !== null && !isDataDirSet(io.env, flags) ? mkdtempSync(join(tmpdir(), 'shieldlog-demo-')) : null;
  const config = temporaryFolder === null ? loaded : { ...loaded, dataDir: temporaryFolder };
  try {
    // Imported here, so that the other commands start faster, without DuckDB.
    const { startProgram } = await import('../program.ts');
    const onFatal = (error: Error): void => {
      logger.fatal(
        { err: error },
        'the program ends, because it cannot tell what is on disk; the next start finds out, and no event is lost',
      );
      endProcess(1);
    };
    const starting = startProgram({ config, env: io.env, now: Date.now, logger, onFatal });
    // A signal during the start waits for the start to end, within the limits of any stop.
    const startStep = { name: () => 'the start', stop: async () => void (await starting) };
    const interrupted = signals.received.then(() => stopAll([[startStep]], STOP_LIMITS));
    const program = await Promise.race([starting, interrupted.then(() => starting)]);
    const { dataDir, demo, kafkaBrokers } = config;
    logger.info({ address: program.address, dataDir, demo, kafkaBrokers }, 'started');
    const isFilled = await Promise.race([program.filled.then(() => true), signals.received.then(() => false)]);
    if (isFilled && io.stderr.isTTY && logger.isLevelEnabled('info'))
      io.stderr.write(`open ${config.publicUrl ?? browserAddress(program.address)}\n`);
    const signal = await signals.received;
    logger.info({ signal }, 'stopping: finishing what is under way; a second signal ends the program at once');
    await program.stop();
    logger.info({}, 'stopped');
    return 0;
  } catch (error) {
    giveUp(error, io);
    return 1;
  } finally {
    signals.dispose();
    if (temporaryFolder !== null) rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

export const serveCommand: Command = {
  help: () => `Usage: shieldlog serve [flags]\n\n${DESCRIPTION}\n\n${flagHelp()}`,
  run,
};
