import { printable } from '../../../query/search-line.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { stdoutSink } from '../../sinks/stdout-sink.ts';
import { type Command, type CommandIo, type ExitStatus, UsageError } from '../command.ts';
import { nonEmpty, optional, wholeNumberFlag } from '../flag-values.ts';
import { programOf } from '../program-requests.ts';
import { stopSignals } from '../stop-signals.ts';
import { styledOutput } from '../terminal.ts';
import { chosenColumns, eventWriter, leftOutText, outputForm } from './event-output.ts';
import { ROW_COLUMNS, ROW_OBJECTS, usualRowColumns } from './output-columns.ts';
import { eventKey, MAX_RECENT_EVENTS, recentEvents } from './recent-events.ts';
import { parseSearchArguments } from './search-arguments.ts';
import { asCommandError } from './search-line-errors.ts';
import { conditionsOfLine, flagsOfFields, LINE_HELP, lastOf, tellNotes, ZONE_FLAGS, ZONE_HELP } from './search-options.ts';
import { TailStream } from './tail-stream.ts';

const HELP = `Usage: shieldlog tail [flags] [WORD…]

Shows the events that a search finds as they come in. A connection that breaks off is opened again behind the last event, so that none
is missed. Where events are left out, because they come faster than they are read, that is told on standard error; 'shieldlog feed'
misses none.

${LINE_HELP}

  --last TIME
      Show the events of so long before now first, such as 15m, 1h, 3d, the oldest first: at most the newest ${MAX_RECENT_EVENTS}.
  --after ID
      Begin behind this event: an id that tail told when it ended, or a cursor of the feed. Without it, with the events to come.
  --limit N
      End after so many events, those of --last included. Of those it shows the newest.
  --table, --ndjson
      A table, or an event a line as the program sent it (default: a table on a terminal, else NDJSON).
  --columns NAME[,NAME…]
      The columns of the table; with NDJSON, what a line has. They are
      ${ROW_COLUMNS.map(({ name }) => name).join(', ')}.
${ZONE_HELP}

SIGINT and SIGTERM end it with status 0.
Exit status: 0 stopped, or --limit is reached; 1 the program cannot be reached at the beginning, or refuses; 2 wrong usage.
`;

const FLAGS = [...ZONE_FLAGS, 'last', 'after', 'limit', 'columns'];

/** Ends a tail that has shown as many events as it should. */
class LimitReached extends Error {}

async function run(args: readonly string[], { env, stdout, stderr }: CommandIo): Promise<ExitStatus> {
  const { flags, switches, line } = parseSearchArguments(args, FLAGS, ['table', 'ndjson']);
  const conditions = conditionsOfLine(line);
  const { query, filters, exclude } = conditions;
  const lastMs = lastOf(flags);
  if (lastMs !== null && flags['after'] !== undefined) throw new UsageError('--after and --last are both given; allowed: one of them');
  const after = optional(flags, 'after', (text, flag) =>
    nonEmpty(flag, text, 'an id that tail told when it ended, or a cursor of the feed'),
  );
  tellNotes('tail', line, stderr);
  const form = outputForm(switches, ['table', 'ndjson'], stdout) === 'table' ? 'table' : 'ndjson';
  const limit = optional(flags, 'limit', (text) => wholeNumberFlag('limit', text, 1, Number.MAX_SAFE_INTEGER)) ?? Number.POSITIVE_INFINITY;
  const program = programOf(flags, env);
  const columns = chosenColumns(flags['columns'], usualRowColumns(program.zone), ROW_COLUMNS);
  const isCutToColumns = flags['columns'] !== undefined;
  const tell = (message: string): void => void stderr.write(`shieldlog tail: ${printable(message)}\n`);
  const onLeftOut = (names: readonly string[]): void => {
    if (names.length > 0) tell(leftOutText(names));
  };
  const lines = eventWriter({ form, columns, isCutToColumns, objects: ROW_OBJECTS, isStream: true, stdout, onLeftOut });
  const sink = stdoutSink(form === 'table' ? styledOutput(stdout) : stdout);
  const stopping = new AbortController();
  const signals = stopSignals(process);
  void signals.received.then(() => stopping.abort());
  const { signal } = stopping;
  let shown = 0;
  const show = async (events: readonly string[]): Promise<void> => {
    const next = events.slice(0, limit - shown);
    if (next.length > 0) await sink.deliver({ bytes: lines(next), count: next.length }, signal);
    shown += next.length;
    if (shown >= limit) throw new LimitReached();
  };
  // Events that came after the stream had begun and before the search was answered are in both.
  const alreadyShown = new Set<string>();
  let isPastShown = lastMs === null;
  const showPast = async (last: number): Promise<void> => {
    const { events, older } = await recentEvents({ program, conditions, lastMs: last, limit, tell, signal });
    if (older > 0) tell(`only the newest ${events.size} events of the last ${flags['last']} are shown; ${older} older ones are not`);
    for (const key of events.keys()) alreadyShown.add(key);
    await show([...events.values()]);
    isPastShown = true;
  };

  const tail = new TailStream({
    program,
    search: JSON.stringify({ query, filters, exclude }),
    after,
    onEvents: (events) => show(alreadyShown.size === 0 ? events : events.filter((json) => !alreadyShown.delete(eventKey(json)))),
    onBegin: () => {
      if (stderr.isTTY) tell(`watching ${program.zone === 'all' ? 'all zones' : `zone ${program.zone}`}; Ctrl-C ends it`);
    },
    tell,
    signal,
  });
  const tellStopped = (id: string): void => {
    if (isPastShown) tell(`stopped after ${shown} events; --after ${id} goes on from here`);
    else tell(`stopped before all events of the last ${flags['last']} were shown; --after ${id} goes on behind them`);
  };
  try {
    if (lastMs !== null) {
      await tail.begin();
      await showPast(lastMs);
    }
    return await tail.watch();
  } catch (error) {
    const isClosed = error instanceof DeliveryError && error.code === 'closed';
    if (signal.aborted && tail.lastId !== null) tellStopped(tail.lastId);
    if (signal.aborted || isClosed || error instanceof LimitReached) return 0;
    if (error instanceof SyntaxError) throw new DeliveryError('refused', `an event that came is no JSON: ${error.message}`);
    throw asCommandError(error, line, flagsOfFields(flags));
  } finally {
    signals.dispose();
    program.client.close();
  }
}

export const tailCommand: Command = {
  help: () => HELP,
  run,
};
