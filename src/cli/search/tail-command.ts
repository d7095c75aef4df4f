import { DeliveryError } from '../../sinks/sink.ts';
import { stdoutSink } from '../../sinks/stdout-sink.ts';
import type { Command, CommandIo, ExitStatus } from '../command.ts';
import { optional, wholeNumber } from '../flag-values.ts';
import { stopSignals } from '../stop-signals.ts';
import { printable } from '../terminal.ts';
import { ROW_COLUMNS, ROW_OBJECTS, usualRowColumns } from './event-columns.ts';
import { chosenColumns, eventWriter, leftOutText, outputForm } from './event-output.ts';
import { asCommandError } from './program-requests.ts';
import { parseSearchArguments } from './search-arguments.ts';
import { conditionsOf, flagsOfFields, LINE_HELP, PROGRAM_FLAGS, PROGRAM_HELP, programOf, tellUnknownField } from './search-options.ts';
import { TailStream } from './tail-stream.ts';

const HELP = `Usage: shieldlog tail [flags] [WORD…]

Shows the events that a search finds as they come in. A connection that breaks off is opened again behind the last event, so that none
is missed. Where events are left out, because they come faster than they are read, that is told on standard error; 'shieldlog feed'
misses none.

${LINE_HELP}

  --after ID
      Begin behind this event: an id that tail told when it ended, or a cursor of the feed. Without it, with the events to come.
  --limit N
      End after so many events.
  --table, --ndjson
      A table, or an event a line as the program sent it (default: a table on a terminal, else NDJSON).
  --columns NAME[,NAME…]
      The columns of the table; with NDJSON, what a line has. They are
      ${ROW_COLUMNS.map(({ name }) => name).join(', ')}.
${PROGRAM_HELP}

SIGINT and SIGTERM end it with status 0.
Exit status: 0 stopped, or --limit is reached; 1 the program cannot be reached at the beginning, or refuses; 2 wrong usage.
`;

const FLAGS = [...PROGRAM_FLAGS, 'after', 'limit', 'columns'];

/** Ends a tail that has shown as many events as it should. */
class LimitReached extends Error {}

async function run(args: readonly string[], { env, stdout, stderr }: CommandIo): Promise<ExitStatus> {
  const { flags, switches, line } = parseSearchArguments(args, FLAGS, ['table', 'ndjson']);
  const { query, filters, exclude } = conditionsOf(line);
  tellUnknownField('tail', line, stderr);
  const form = outputForm(switches, ['table', 'ndjson'], stdout) === 'table' ? 'table' : 'ndjson';
  const limit = optional(flags, 'limit', (text) => wholeNumber('limit', text, 1, Number.MAX_SAFE_INTEGER)) ?? Number.POSITIVE_INFINITY;
  const program = programOf(flags, env);
  const columns = chosenColumns(flags['columns'], usualRowColumns(program.zone), ROW_COLUMNS);
  const isCutToColumns = flags['columns'] !== undefined;
  const tell = (message: string): void => void stderr.write(`shieldlog tail: ${printable(message)}\n`);
  const onLeftOut = (names: readonly string[]): void => {
    if (names.length > 0) tell(leftOutText(names));
  };
  const lines = eventWriter({ form, columns, isCutToColumns, objects: ROW_OBJECTS, isStream: true, stdout, onLeftOut });
  const sink = stdoutSink(stdout);
  const stopping = new AbortController();
  const signals = stopSignals(process);
  void signals.received.then(() => stopping.abort());
  let shown = 0;

  const tail = new TailStream({
    program,
    search: JSON.stringify({ query, filters, exclude }),
    after: flags['after'] ?? null,
    onEvents: async (events) => {
      const next = events.slice(0, limit - shown);
      await sink.deliver({ bytes: lines(next), count: next.length }, stopping.signal);
      shown += next.length;
      if (shown >= limit) throw new LimitReached();
    },
    onBegin: () => {
      if (stderr.isTTY) tell(`watching ${program.zone === 'all' ? 'all zones' : `zone ${program.zone}`}; Ctrl-C ends it`);
    },
    tell,
    signal: stopping.signal,
  });
  try {
    return await tail.watch();
  } catch (error) {
    const isClosed = error instanceof DeliveryError && error.code === 'closed';
    if (stopping.signal.aborted && tail.lastId !== null) tell(`stopped after ${shown} events; --after ${tail.lastId} goes on from here`);
    if (stopping.signal.aborted || isClosed || error instanceof LimitReached) return 0;
    if (error instanceof SyntaxError)
      throw asCommandError(new DeliveryError('refused', `an event that came is no JSON: ${error.message}`), line, {});
    throw asCommandError(error, line, flagsOfFields(flags));
  } finally {
    signals.dispose();
    program.client.close();
  }
}

export const tailCommand: Command = {
  name: 'tail',
  summary: 'show the events that a search finds as they come in',
  help: () => HELP,
  run,
};
