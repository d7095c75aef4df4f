import { type DestinationStream, pino } from 'pino';
import { loadConfig } from '../config/config.ts';
import { CONFIG_VARIABLES, flagOf, flagsOf } from '../config/config-table.ts';
import { misspelledSettings } from '../config/misspelled-settings.ts';
import { fileFlagOf, fileVariableOf } from '../config/setting-text.ts';
import { STOP_LIMITS, StopOverdue, stopAll } from '../stop-all.ts';
import type { Command, CommandIo, ExitStatus } from './command.ts';
import { parseCommandLine, UsageError } from './command-line.ts';
import { endProcess } from './end-process.ts';
import { OWNER_ONLY } from './owner-only.ts';
import { printable } from './printable.ts';
import { stopSignals } from './stop-signals.ts';

function flagHelp(): string {
  return CONFIG_VARIABLES.map(({ name, about, allowed, default: standard, secret }) => {
    const unset = standard === null || standard === '' ? '' : ` (default ${standard})`;
    const inFile = secret ? `      Or the name of a file that holds it: --${fileFlagOf(flagOf(name))}, ${fileVariableOf(name)}.\n` : '';
    return `  --${flagOf(name)}, ${name}${unset}\n      ${about}.\n      Allowed: ${allowed}.\n${inFile}`;
  }).join('');
}

/** Log lines as JSON; on a terminal, for people. Written at once, so that none is lost when the program ends. */
async function logDestination(stderr: CommandIo['stderr']): Promise<DestinationStream> {
  if (!stderr.isTTY) return stderr;
  // Only here, because programs that log to a file or a collector do without it.
  const { prettyFactory } = await import('pino-pretty');
  const format = prettyFactory({ colorize: stderr.hasColors(), translateTime: 'SYS:HH:MM:ss', singleLine: true });
  // A broker's or an upstream's words may be in it; the lines of a stack trace stay lines.
  const shown = (value: unknown): unknown => (typeof value === 'string' ? value.split('\n').map(printable).join('\n') : value);
  return { write: (line) => stderr.write(format(JSON.parse(line, (_name, value) => shown(value)))) };
}

/** Such as `http://127.0.0.1:8080`: an address of all interfaces is none that a browser could open. */
function addressToOpen(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** What hangs may hang for ever: the process ends without it. Any other error of a stop is thrown. */
function giveUp(error: unknown, { stderr }: CommandIo): void {
  if (!(error instanceof StopOverdue)) throw error;
  stderr.write(`shieldlog: ${error.message}\n`);
  endProcess(1);
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, positionals } = parseCommandLine(args, CONFIG_VARIABLES.flatMap(flagsOf));
  if (positionals[0] !== undefined) throw new UsageError(`Unexpected argument '${positionals[0]}'; serve takes only flags`);
  const config = loadConfig(io.env, flags);
  const logger = pino({ level: config.logLevel, base: null }, await logDestination(io.stderr));
  for (const line of misspelledSettings(io.env, flags)) logger.warn({}, line);
  const signals = stopSignals(process);
  process.umask(OWNER_ONLY);
  try {
    // Only here, because the other commands do without DuckDB and start faster.
    const { startProgram } = await import('../program.ts');
    const starting = startProgram({ config, now: Date.now, logger });
    // A stop that is asked for during the start waits for it, and no longer than for anything else.
    const startStep = { name: () => 'the start', stop: async () => void (await starting) };
    const interrupted = signals.received.then(() => stopAll([[startStep]], STOP_LIMITS));
    const program = await Promise.race([starting, interrupted.then(() => starting)]);
    const { dataDir, demo, kafkaBrokers } = config;
    logger.info({ address: program.address, dataDir, demo, kafkaBrokers }, 'started');
    const isFilled = await Promise.race([program.filled.then(() => true), signals.received.then(() => false)]);
    if (isFilled && io.stderr.isTTY && logger.isLevelEnabled('info')) io.stderr.write(`open ${addressToOpen(program.address)}\n`);
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
  }
}

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run the program: take events in, answer searches',
  help: () =>
    `Usage: shieldlog serve [flags]\n\nTakes events in from Kafka and HTTP and answers searches. Each flag has the name of an environment\nvariable; a flag wins over its variable.\n\n${flagHelp()}`,
  run,
};
