import { NEWLINE, newlinesIn, QUOTE } from '../../../query/json-bytes.ts';
import { printable } from '../../../query/search-line.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { stdoutSink } from '../../sinks/stdout-sink.ts';
import { type Command, type CommandIo, type ExitStatus, UsageError } from '../command.ts';
import { nonEmpty, optional } from '../flag-values.ts';
import { type AskedProgram, incompleteText, openAnswer, programOf, unreadableIn, zonesPath } from '../program-requests.ts';
import { StoppedBySignal, stopSignals } from '../stop-signals.ts';
import { startByteProgress } from '../terminal.ts';
import { writeWholeFile } from './export-file.ts';
import { parseSearchArguments, type SearchArguments } from './search-arguments.ts';
import { asCommandError } from './search-line-errors.ts';
import {
  conditionsOfLine,
  flagsOfFields,
  LINE_HELP,
  tellNotes,
  WINDOW_FLAGS,
  WINDOW_HELP,
  windowOfFlags,
  ZONE_FLAGS,
  ZONE_HELP,
} from './search-options.ts';

const HELP = `Usage: shieldlog export [flags] [WORD…]

Writes every event that a search finds, the newest first, as CSV or NDJSON to standard output or to a file.

${LINE_HELP}

${WINDOW_HELP}
  --output FILE
      Where to write; the file has its name only when it is whole. Compressed where the name ends in .gz or .zst. - is standard output,
      as without the flag; ./- is a file of that name.
  --csv, --ndjson
      The format. Without it a file is NDJSON where its name ends in .ndjson or .jsonl, also before .gz or .zst, else CSV; standard output
      is CSV on a terminal, else NDJSON.
  --bom
      Begins CSV with a BOM, by which some spreadsheets know UTF-8.
${ZONE_HELP}

Exit status: 0 done, 1 the program refuses or the export broke off, 2 wrong usage, 130 ended by SIGINT.
`;

type ExportFormat = 'csv' | 'ndjson';

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** This output stands for standard output, which the export goes to without the flag, too. */
const STDOUT = '-';

function formatOf(switches: ReadonlySet<string>, output: string | null, { isTTY }: CommandIo['stdout']): ExportFormat {
  if (switches.has('csv') && switches.has('ndjson')) throw new UsageError('--csv and --ndjson are both given; allowed: one of them');
  if (switches.has('csv')) return 'csv';
  if (switches.has('ndjson')) return 'ndjson';
  if (output === null) return isTTY ? 'csv' : 'ndjson';
  return /\.(ndjson|jsonl)(\.gz|\.zst)?$/i.test(output) ? 'ndjson' : 'csv';
}

/** Throws UsageError where a format has no BOM. */
function refuseBom(format: ExportFormat): void {
  if (format !== 'csv') throw new UsageError(`--bom is given and the format is ${format}; allowed: --bom with CSV, which --csv asks for`);
}

/** What has come of an export, whose pieces may be cut anywhere. */
interface ExportCount {
  bytes: number;
  events: number;
}

/** Returns a function that counts the records which end in the next piece of CSV. A line end in quotes is a part of a cell. */
function csvRecords(): (piece: Buffer) => number {
  let isQuoted = false;
  return (piece) => {
    let ends = 0;
    for (const byte of piece) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (byte === NEWLINE && !isQuoted) ends += 1;
    }
    return ends;
  };
}

/** Adds to `count` what passes. The first record of CSV is the header. */
async function* counted(bytes: AsyncIterable<Buffer>, format: ExportFormat, count: ExportCount): AsyncGenerator<Buffer> {
  const recordsIn = format === 'csv' ? csvRecords() : newlinesIn;
  let records = format === 'csv' ? -1 : 0;
  for await (const chunk of bytes) {
    yield chunk;
    records += recordsIn(chunk);
    count.bytes += chunk.length;
    count.events = Math.max(0, records);
  }
}

interface ExportOptions {
  readonly program: AskedProgram;
  /** The body of the request. */
  readonly body: string;
  readonly format: ExportFormat;
  readonly hasBom: boolean;
  /** Null: standard output. */
  readonly output: string | null;
  readonly line: string;
  readonly flags: SearchArguments['flags'];
}

function parseOptions(args: readonly string[], { env, stdout }: CommandIo): ExportOptions {
  const { flags, switches, line } = parseSearchArguments(args, [...ZONE_FLAGS, ...WINDOW_FLAGS, 'output'], ['csv', 'ndjson', 'bom']);
  const target = optional(flags, 'output', (text, flag) => nonEmpty(flag, text, 'the name of a file'));
  const output = target === STDOUT ? null : target;
  const format = formatOf(switches, output, stdout);
  const hasBom = switches.has('bom');
  if (hasBom) refuseBom(format);
  const body = JSON.stringify({ ...windowOfFlags(flags, Date.now()), ...conditionsOfLine(line) });
  return { program: programOf(flags, env), body, format, hasBom, output, line, flags };
}

/** Writes the export. Throws StoppedBySignal, the errors of `openAnswer` and of `writeWholeFile`, and DeliveryError of standard output. */
async function transfer(options: ExportOptions, io: CommandIo, signal: AbortSignal): Promise<void> {
  const { program, body, format, hasBom, output } = options;
  const progress = startByteProgress(output === null && io.stdout.isTTY ? null : io.stderr, null, 'received');
  const count: ExportCount = { bytes: 0, events: 0 };
  let incomplete: string | undefined;
  try {
    const query = hasBom ? { bom: 'true' } : {};
    const request = { method: 'POST', path: zonesPath(program, 'export'), query, body, accept: TYPES[format], signal } as const;
    const answer = await openAnswer(program, request);
    incomplete = incompleteText(unreadableIn(answer.headers));
    const bytes = counted(progress.watch(answer.body), format, count);
    if (output === null) await writeOut(bytes, io.stdout, signal);
    else await writeWholeFile(output, bytes);
  } catch (error) {
    if (!(error instanceof DeliveryError) || error.code !== 'unavailable' || count.bytes === 0) throw error;
    const left = output === null ? 'what was written is not whole' : `${output} is not written`;
    throw new DeliveryError(error.code, `the export broke off after ${count.bytes} bytes, ${left}: ${error.message}`, { cause: error });
  } finally {
    progress.stop();
  }
  tellNotes('export', options.line, io.stderr, count.events);
  if (incomplete !== undefined) io.stderr.write(`shieldlog export: ${incomplete}\n`);
  if (output !== null) io.stderr.write(`shieldlog export: ${count.events} events written to ${printable(output)}\n`);
}

async function writeOut(bytes: AsyncIterable<Buffer>, stdout: CommandIo['stdout'], signal: AbortSignal): Promise<void> {
  const sink = stdoutSink(stdout);
  for await (const chunk of bytes) await sink.deliver({ bytes: chunk, count: 1 }, signal);
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const options = parseOptions(args, io);
  tellNotes('export', options.line, io.stderr);
  const stopping = new AbortController();
  // A pipe whose reader has stopped reading blocks this process, and a signal that has a listener would not end it. Without a file and a
  // progress bar nothing has to be cleared away.
  const signals = options.output !== null || (io.stderr.isTTY && !io.stdout.isTTY) ? stopSignals(process) : null;
  void signals?.received.then((signal) => stopping.abort(new StoppedBySignal(signal)));
  try {
    await transfer(options, io, stopping.signal);
    return 0;
  } catch (error) {
    if (stopping.signal.aborted) return stopping.signal.reason.status;
    // The reader of the pipe has enough.
    if (error instanceof DeliveryError && error.code === 'closed') return 0;
    throw asCommandError(error, options.line, flagsOfFields(options.flags));
  } finally {
    signals?.dispose();
    options.program.client.close();
  }
}

export const exportCommand: Command = {
  help: () => HELP,
  run,
};
