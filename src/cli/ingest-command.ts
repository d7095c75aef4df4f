import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IntakeReport } from '../../ingest/upload/intake-report.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, parseCommandLine, UsageError } from './command.ts';
import { ACCESS_KEY_FLAGS, ACCESS_KEY_HELP, accessKeyOf, DEFAULT_URL, serverUrlOf } from './server-flags.ts';
import { printable, startByteProgress } from './terminal.ts';
import { detectEncoding, firstBytesOf, uploadEvents } from './upload-events.ts';

/** A terminal shows at most so many rejected events, fewer than the answer of the program lists. */
export const MAX_LISTED = 20;

const HELP = `Usage: shieldlog ingest FILE|- [flags]

Sends the events in FILE (or standard input) to a running shieldlog: NDJSON or one JSON array, plain, gzip or zstd.
Sending the same file again stores nothing twice, and says how many events were stored already.
A rejected event is named with its line, that of the decompressed file.

  --url URL
      The running program (default ${DEFAULT_URL}).
${ACCESS_KEY_HELP}

Exit status: 0 every event was accepted (or older than the retention), 1 some were rejected or nothing could be sent, 2 wrong usage.
`;

interface Input {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly sizeBytes: number | null;
  readonly source: 'http' | 'file';
}

async function openInput(name: string, stdin: AsyncIterable<Uint8Array>): Promise<Input> {
  if (name === '-') return { bytes: stdin, sizeBytes: null, source: 'http' };
  try {
    const found = await stat(name);
    if (found.isDirectory()) throw new CommandFailed(`${name} is a folder; allowed: a file, or - for standard input`);
    return { bytes: createReadStream(name), sizeBytes: found.isFile() ? found.size : null, source: 'file' };
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw new CommandFailed(`${name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function countsOf({ accepted, duplicates, expired, rejectedCount }: IntakeReport): string {
  const already = duplicates === null ? '' : ` (${duplicates} stored already)`;
  return `accepted ${accepted}${already}, expired ${expired}, rejected ${rejectedCount}`;
}

function tellRejected(name: string, { rejected, rejectedCount }: IntakeReport, stderr: CommandIo['stderr']): void {
  const input = name === '-' ? 'standard input' : printable(name);
  for (const { line, reason } of rejected.slice(0, MAX_LISTED)) stderr.write(`${input}, line ${line}: rejected: ${printable(reason)}\n`);
  const unlisted = rejectedCount - Math.min(rejected.length, MAX_LISTED);
  if (unlisted > 0) stderr.write(`and ${unlisted} more\n`);
  const lost = rejected.filter(({ kept }) => kept === false).length;
  if (rejectedCount > lost) stderr.write('Rejected events are kept as dead letters: GET /ingest/dead-letters\n');
  if (lost > 0) stderr.write(`${lost} of them are not kept, because the dead letters use up DEAD_LETTER_MAX_MB\n`);
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, positionals } = parseCommandLine(args, ['url', ...ACCESS_KEY_FLAGS]);
  const [name, extra] = positionals;
  if (name === undefined) throw new UsageError('ingest needs a FILE, or - for standard input');
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'; ingest takes one FILE`);
  const url = serverUrlOf(flags['url']);
  const accessKey = accessKeyOf(flags, io.env);
  const input = await openInput(name, io.stdin);
  const progress = startByteProgress(io.stderr, input.sizeBytes, 'sent');
  let answer: IntakeReport;
  try {
    const { first, whole } = await firstBytesOf(input.bytes);
    const body = progress.watch(whole);
    answer = await uploadEvents({ url, accessKey, encoding: detectEncoding(first), source: input.source, body });
  } finally {
    progress.stop();
  }
  io.stdout.write(`${countsOf(answer)}\n`);
  tellRejected(name, answer, io.stderr);
  return answer.rejectedCount === 0 ? 0 : 1;
}

export const ingestCommand: Command = {
  name: 'ingest',
  summary: 'send a file of events to a running program',
  help: () => HELP,
  run,
};
