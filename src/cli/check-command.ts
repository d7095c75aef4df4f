import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Repair, repairFolder } from '../../store/embedded/repair/repair.ts';
import { StoreError } from '../../store/event-store.ts';
import { loadConfig } from '../config/config.ts';
import { type Command, type CommandIo, type ExitStatus, OWNER_ONLY, parseCommandLine, UsageError } from './command.ts';
import { printable, startReadProgress } from './terminal.ts';

const HELP = `Usage: shieldlog check --repair [DATA_DIR]

--repair brings DATA_DIR (default ./data) to where a start goes on with it, while no program has it open. Files that the catalog names
and that are missing are noted as damaged. A catalog that is missing, damaged or older than its files is made anew of what segments, blob
files and journals hold. No file is removed: what is left out is moved into the folder left-out-TIME of DATA_DIR.

  --memory-limit-mb N, MEMORY_LIMIT_MB
      Memory that DuckDB may use (default 1024).

Exit status: 0 done, 2 it cannot be done, or wrong usage.
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
        `it has ${parts} with ${plural(events, 'event')}`,
        ...(leftOutFolder === undefined ? [] : [`${plural(leftOut, 'file')} left out, and the old catalog: ${leftOutFolder}`]),
        'Kafka is read from its earliest where no journal has an offset; cursors of the feed from before are refused',
      ];
    }
  }
}

/** Throws StoreError. */
function requireFolder(dataDir: string): void {
  const wrong = !existsSync(dataDir) ? 'does not exist' : statSync(dataDir).isDirectory() ? null : 'is no folder';
  if (wrong === null) return;
  const folder = JSON.stringify(resolve(dataDir));
  throw new StoreError(
    'folder_unusable',
    `DATA_DIR: ${folder} ${wrong}; allowed: the folder of a program that was started with shieldlog serve`,
  );
}

async function repair(dataDir: string, memoryLimitMb: number, { stdout, stderr }: CommandIo): Promise<ExitStatus> {
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

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, switches, positionals } = parseCommandLine(args, ['memory-limit-mb'], ['repair']);
  const [given, extra] = positionals;
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'; check takes one DATA_DIR`);
  if (!switches.has('repair')) throw new UsageError('check needs --repair');
  const dataDirFlag = given === undefined ? {} : { 'data-dir': given };
  const { DATA_DIR, MEMORY_LIMIT_MB } = io.env;
  const { dataDir, memoryLimitMb } = loadConfig({ DATA_DIR, MEMORY_LIMIT_MB }, { ...flags, ...dataDirFlag });
  process.umask(OWNER_ONLY);
  try {
    requireFolder(dataDir);
    return await repair(dataDir, memoryLimitMb, io);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    io.stderr.write(`shieldlog: ${printable(error.message)}\n`);
    return 2;
  }
}

export const checkCommand: Command = {
  name: 'check',
  summary: 'look for damage in a data folder, and repair it',
  help: () => HELP,
  run,
};
