import { printable } from '../../query/search-line.ts';
import { checkDataFolder } from '../../store/embedded/check/offline-check.ts';
import { type Repair, repairFolder } from '../../store/embedded/repair/repair.ts';
import type { CheckLine } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { loadConfig } from '../config/config.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { type Command, type CommandIo, type ExitStatus, OWNER_ONLY, parseCommandLine, requireFolder, UsageError } from './command.ts';
import { type AskedProgram, askedLines, programOf } from './program-requests.ts';
import { PROGRAM_FLAGS, PROGRAM_HELP } from './server-flags.ts';
import { startReadProgress } from './terminal.ts';

const HELP = `Usage: shieldlog check [DATA_DIR] [flags]
       shieldlog check --repair [DATA_DIR]

Reads all files of DATA_DIR (default ./data) and compares them with their checksums: the catalog, segments, blob files, journals, dead
letters and the state of the control plane. A line for each fault names the file, what is wrong with it, and how many events that takes at
most; the last line sums up, with the folder that was checked. While a program has the folder open it is asked to do so, at --url;
without DATA_DIR the one at --url is asked at once.

--repair brings DATA_DIR to where a start goes on with it, while no program has it open. Files that the catalog names and that are missing
are noted as damaged. A catalog that is missing, damaged or older than its files is made anew of what segments, blob files and journals
hold. No file is removed: what is left out is moved into the folder left-out-TIME of DATA_DIR.

${PROGRAM_HELP}
      The key needs all zones and the scope admin.
  --memory-limit-mb N, MEMORY_LIMIT_MB
      Memory that DuckDB may use in a repair (default 1024).

Exit status: 0 all is whole, or repaired; 1 there are faults; 2 it cannot be done, or wrong usage.
`;

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function eventsLost(events: number | undefined): string {
  return events === undefined ? 'nothing tells how many events it had' : `at most ${plural(events, 'event')} are lost`;
}

/** What a repair did, a line each. */
function toldRepair(repair: Repair): string[] {
  switch (repair.kind) {
    case 'none':
      return ['nothing to repair: a start goes on with the folder as it is'];
    case 'accepted': {
      const lines = repair.missing.map(({ file, fault, events }) => {
        const lost = events === 0 ? 'the logs of its events are answered as {}' : eventsLost(events);
        return `missing: ${file}: ${fault}; ${lost}`;
      });
      return [...lines, `${plural(repair.missing.length, 'file')} noted as missing; one that is put back is used again at the next start`];
    }
    case 'rebuilt': {
      const { reason, lost, withoutLogs, segments, blobFiles, journals, events, leftOut, leftOutFolder } = repair;
      const parts = `${plural(segments, 'segment')}, ${plural(blobFiles, 'blob file')} and ${plural(journals, 'journal')}`;
      return [
        `the catalog is made anew: ${reason}`,
        ...lost.map((file) => `lost: ${file.file}: ${file.fault}; ${eventsLost(file.events)}`),
        ...withoutLogs.map((file) => `damaged: ${file.file}: ${file.fault}; the logs of its events are answered as {}`),
        `it has ${parts} with at most ${plural(events, 'event')}; the next start finds those that are in two places`,
        ...(leftOutFolder === undefined ? [] : [`${plural(leftOut, 'file')} left out; moved, with the old catalog, to ${leftOutFolder}`]),
        'Kafka is read from its earliest where no journal has an offset; cursors of the feed from before are refused',
      ];
    }
  }
}

async function repair(dataDir: string, memoryLimitMb: number, { stdout, stderr }: CommandIo): Promise<ExitStatus> {
  requireFolder(dataDir);
  const progress = startReadProgress(stderr);
  try {
    const done = await repairFolder({ dataDir, memoryLimitMb, now: Date.now, onRead: progress.update });
    progress.stop();
    for (const line of toldRepair(done)) stdout.write(`${printable(line)}\n`);
    return 0;
  } finally {
    progress.stop();
  }
}

/** Throws StoreError where it ends before it is done. */
async function tellCheck(lines: AsyncIterable<CheckLine>, { stdout, stderr }: CommandIo): Promise<ExitStatus> {
  const progress = startReadProgress(stderr);
  const beganMs = performance.now();
  const tell = (line: string): void => {
    progress.stop();
    stdout.write(`${printable(line)}\n`);
  };
  try {
    for await (const line of lines) {
      if (line.kind === 'progress') progress.update(line.bytes, line.totalBytes);
      else if (line.kind === 'fault') tell(`${line.file}: ${line.fault}; ${eventsAffected(line.events)}`);
      else {
        const { folder, files, bytes, events, faults } = line;
        const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
        const read = `${plural(files, 'file')}, ${plural(bytes, 'byte')}, ${plural(events, 'event')}`;
        tell(`${folder}: ${read}, ${plural(faults, 'fault')}, ${seconds} seconds`);
        return faults === 0 ? 0 : 1;
      }
    }
  } finally {
    progress.stop();
  }
  throw new StoreError('closed', 'the check broke off: it has no summary');
}

function eventsAffected(events: number | null): string {
  return events === null ? 'of how many events nothing tells' : `of ${plural(events, 'event')} at most`;
}

/** Asks the program where one has the folder open, or where no folder is named and it is. */
async function check(dataDir: string, asksFirst: boolean, program: AskedProgram, io: CommandIo): Promise<ExitStatus> {
  const askProgram = () => tellCheck(askedLines<CheckLine>(program, { method: 'GET', path: '/check' }), io);
  if (asksFirst) return await askProgram();
  requireFolder(dataDir);
  try {
    return await tellCheck(checkDataFolder(dataDir), io);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'folder_in_use') throw error;
    io.stderr.write(`${printable(dataDir)} is in use; the program at ${program.url.origin} is asked\n`);
    return await askProgram();
  }
}

function refuseForeign(flags: Readonly<Record<string, string>>, isRepair: boolean): void {
  const foreign = (isRepair ? PROGRAM_FLAGS : ['memory-limit-mb']).find((flag) => flags[flag] !== undefined);
  if (foreign !== undefined) throw new UsageError(`--${foreign} is ${isRepair ? 'not allowed with' : 'allowed only with'} --repair`);
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, switches, positionals } = parseCommandLine(args, ['memory-limit-mb', ...PROGRAM_FLAGS], ['repair']);
  const [given, extra] = positionals;
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'; check takes one DATA_DIR`);
  const isRepair = switches.has('repair');
  refuseForeign(flags, isRepair);
  const { DATA_DIR, MEMORY_LIMIT_MB } = io.env;
  const memory = flags['memory-limit-mb'];
  const settings = {
    ...(memory === undefined ? {} : { 'memory-limit-mb': memory }),
    ...(given === undefined ? {} : { 'data-dir': given }),
  };
  const { dataDir, memoryLimitMb } = loadConfig({ DATA_DIR, ...(isRepair ? { MEMORY_LIMIT_MB } : {}) }, settings);
  process.umask(OWNER_ONLY);
  try {
    return await (isRepair
      ? repair(dataDir, memoryLimitMb, io)
      : check(dataDir, given === undefined && flags['url'] !== undefined, programOf(flags, io.env), io));
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof DeliveryError)) throw error;
    io.stderr.write(`shieldlog: ${printable(error.message)}\n`);
    return 2;
  }
}

export const checkCommand: Command = {
  help: () => HELP,
  run,
};
