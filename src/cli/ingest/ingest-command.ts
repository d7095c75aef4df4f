import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ChunkReader } from '../../../ingest/upload/compressed-frames.ts';
import { decompressed, detectEncoding } from '../../../ingest/upload/decompress.ts';
import { countsText, type IntakeCounts, type IntakeReport } from '../../../ingest/upload/intake-report.ts';
import { firstZstdHeader, MAX_ZSTD_WINDOW_BYTES } from '../../../ingest/upload/zstd-frame.ts';
import { printable } from '../../../query/search-line.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, parseCommandLine, UsageError } from '../command.ts';
import { nonEmpty, optional, zoneNumber } from '../flag-values.ts';
import { accessKeyOf, PROGRAM_FLAGS, PROGRAM_HELP, serverUrlOf, trustedBy } from '../server-flags.ts';
import { stateFolder } from '../state-file.ts';
import { StoppedBySignal, stopSignals } from '../stop-signals.ts';
import { type ByteProgress, startByteProgress } from '../terminal.ts';
import { type FollowingOptions, ingestFollowing } from './ingest-following.ts';
import { addedCounts, NO_EVENTS, tellRejected } from './intake-counts.ts';
import { type RecordsSent, UploadFailed, uploadEvents } from './upload-events.ts';

const HELP = `Usage: shieldlog ingest FILE|-… [flags]

Sends the events in each FILE (or standard input) to a running shieldlog, one after the other: lines, arrays, or objects over
several lines, plain, gzip or zstd. Sending the same file again stores nothing twice, and says how many events were stored already.
A rejected event is named with its line, that of the decompressed file. A file that cannot be read or is refused keeps none of the others
from being sent.

  --follow
      Go on with the lines that are appended, to several files at once, within a second. A file is followed by its name: where it is renamed
      and another one takes its name, or is cut, nothing is lost. A line is sent when it has its end. What the program cannot take is
      tried again until it can.
  --state FOLDER
      Where --follow keeps how far each file was sent, in a file of its own (default $XDG_STATE_HOME/shieldlog, unset:
      ~/.local/state/shieldlog). Another start goes on from there.
  --mapping NAME
      The files have records of another product, of which this mapping of the program makes events ('shieldlog mappings list').
  --zone N
      With --mapping: the zone of all records, whatever the mapping says.
${PROGRAM_HELP}

With --follow, SIGINT and SIGTERM send what is complete, say where it stopped, and end with status 0.
Exit status: 0 every event was accepted (or older than the retention, or left out by its mapping), 1 some were rejected or a file was not
sent whole, 2 wrong usage, 130 ended by SIGINT.
`;

interface IngestOptions extends Omit<FollowingOptions, 'stateFolder'> {
  readonly follow: boolean;
  /** That of the user where it is null. */
  readonly stateFolder: string | null;
}

function parseOptions(args: readonly string[], env: CommandIo['env']): IngestOptions {
  const { flags, switches, positionals: names } = parseCommandLine(args, ['state', 'mapping', 'zone', ...PROGRAM_FLAGS], ['follow']);
  if (names.length === 0) throw new UsageError('ingest needs a FILE, or - for standard input');
  if (names.includes('')) throw new UsageError("'' is no FILE; allowed: the name of a file, or - for standard input");
  const again = names.find((name, index) => names.slice(0, index).some((other) => isSame(other, name)));
  if (again !== undefined) throw new UsageError(`'${again}' is given twice; allowed: each FILE once`);
  const follow = switches.has('follow');
  if (!follow && flags['state'] !== undefined) throw new UsageError('--state goes only with --follow');
  const folder = optional(flags, 'state', (text, flag) => nonEmpty(flag, text, 'the path of a folder'));
  const target = { url: serverUrlOf(flags['url']), accessKey: accessKeyOf(flags, env), trust: trustedBy(flags['ca'] ?? null) };
  return { ...target, names, records: recordsOf(flags), follow, stateFolder: folder };
}

/** Null where the files have events. */
function recordsOf(flags: Readonly<Record<string, string>>): RecordsSent | null {
  const mapping = optional(flags, 'mapping', (text, flag) => nonEmpty(flag, text, 'the name of a mapping that the program has'));
  const zone = optional(flags, 'zone', zoneNumber);
  if (mapping === null && zone !== null) throw new UsageError('--zone goes only with --mapping: events have a zone of their own');
  return mapping === null ? null : { mapping, zone };
}

/** Whether two arguments name one file. `-` is standard input, and not a file of that name. */
function isSame(one: string, other: string): boolean {
  return one === '-' || other === '-' ? one === other : resolve(one) === resolve(other);
}

const shownName = (name: string): string => (name === '-' ? 'standard input' : name);

interface Input {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly sizeBytes: number | null;
  readonly source: 'http' | 'file';
}

async function openInput(name: string, stdin: AsyncIterable<Uint8Array>): Promise<Input> {
  if (name === '-') return { bytes: stdin, sizeBytes: null, source: 'http' };
  try {
    const found = await stat(name);
    if (found.isDirectory()) throw new UploadFailed('unreadable', `${name} is a folder; allowed: a file, or - for standard input`);
    return { bytes: createReadStream(name), sizeBytes: found.isFile() ? found.size : null, source: 'file' };
  } catch (error) {
    if (error instanceof UploadFailed) throw error;
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): UploadFailed {
  return new UploadFailed('unreadable', `${shownName(name)} cannot be read: ${(error as Error).message}`, { cause: error });
}

/** Uploads a file. Throws UploadFailed, and StoppedBySignal. */
async function uploadFile(name: string, options: IngestOptions, io: CommandIo): Promise<IntakeReport> {
  const input = await openInput(name, io.stdin);
  const progress = startByteProgress(io.stderr, input.sizeBytes, 'sent');
  // A bar hides the cursor, and a signal that kills the process would leave it hidden.
  const signals = io.stderr.isTTY ? stopSignals(process) : null;
  const stopped = signals?.received.then((signal) => Promise.reject(new StoppedBySignal(signal)));
  try {
    const upload = uploadInput(name, input, progress, options);
    return await Promise.race(stopped === undefined ? [upload] : [upload, stopped]);
  } finally {
    progress.stop();
    signals?.dispose();
  }
}

/** The largest window that the format and this machine know. */
const LARGEST_WINDOW_BYTES = 2 ** 31;

async function uploadInput(name: string, input: Input, progress: ByteProgress, options: IngestOptions): Promise<IntakeReport> {
  const { url, accessKey, trust, records } = options;
  const target = { url, accessKey, trust, records };
  const bytes = new ChunkReader(progress.watch(input.bytes));
  // A file is opened by its first read, which may be refused.
  const first = await bytes.peek(4).catch((error) => Promise.reject(unreadable(name, error)));
  const encoding = detectEncoding(first);
  const { source } = input;
  const { windowBytes = 0 } = (encoding === 'zstd' && (await firstZstdHeader(bytes))) || {};
  if (windowBytes <= MAX_ZSTD_WINDOW_BYTES) return uploadEvents({ ...target, encoding, source, body: bytes });
  // The program does not keep so large a window for a caller.
  const body = decompressed(bytes, encoding, { maxWindowBytes: LARGEST_WINDOW_BYTES });
  return uploadEvents({ ...target, encoding: 'identity', source, body });
}

async function ingestOne(name: string, options: IngestOptions, io: CommandIo): Promise<ExitStatus> {
  const report = await uploadFile(name, options, io);
  io.stdout.write(`${countsText(report)}\n`);
  tellRejected(shownName(name), report, io.stderr);
  return report.rejectedCount === 0 ? 0 : 1;
}

/** The faults that the next files would meet, too. */
const ENDING: readonly UploadFailed['fault'][] = ['unavailable', 'denied'];

/**
 * Sends the files in their order. A file that is at fault by itself is told and passed over; what would befall the next ones too ends the
 * command, which names them.
 */
async function ingestFiles(options: IngestOptions, io: CommandIo): Promise<ExitStatus> {
  const { names } = options;
  let [total, failed]: [IntakeCounts, number] = [NO_EVENTS, 0];
  for (const [index, name] of names.entries()) {
    const shown = shownName(name);
    try {
      const report = await uploadFile(name, options, io);
      total = addedCounts(total, report);
      io.stdout.write(`${printable(shown)}: ${countsText(report)}\n`);
      tellRejected(shown, report, io.stderr);
    } catch (error) {
      if (!(error instanceof UploadFailed)) throw error;
      const left = names
        .slice(index + 1)
        .map(shownName)
        .join(', ');
      const others = left === '' ? '' : `; not sent either: ${left}`;
      const message = error.message.startsWith(shown) ? error.message : `${shown}: ${error.message}`;
      if (ENDING.includes(error.fault)) throw new CommandFailed(`${message}${others}`, { cause: error });
      failed += 1;
      io.stderr.write(`shieldlog ingest: ${printable(message)}\n`);
    }
  }
  io.stdout.write(`${names.length} files: ${countsText(total)}${failed === 0 ? '' : `; ${failed} not sent whole`}\n`);
  return total.rejectedCount === 0 && failed === 0 ? 0 : 1;
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const options = parseOptions(args, io.env);
  if (options.follow) return ingestFollowing({ ...options, stateFolder: options.stateFolder ?? stateFolder(io.env) }, io);
  const [name = '', ...others] = options.names;
  try {
    return await (others.length === 0 ? ingestOne(name, options, io) : ingestFiles(options, io));
  } catch (error) {
    if (error instanceof StoppedBySignal) return error.status;
    throw error;
  }
}

export const ingestCommand: Command = {
  help: () => HELP,
  run,
};
