import { printable } from '../../../query/search-line.ts';
import { BACKUP_TYPE } from '../../openapi/openapi-backup.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, parseCommandLine, UsageError } from '../command.ts';
import { type AskedProgram, openAnswer, programOf } from '../program-requests.ts';
import { PROGRAM_FLAGS, PROGRAM_HELP } from '../server-flags.ts';
import { startByteProgress } from '../terminal.ts';
import { BackupAnswer } from './backup-answer.ts';
import { BackupFolder } from './backup-folder.ts';

const HELP = `Usage: shieldlog backup DIR [flags]

Copies the data folder of a running program to a folder of this machine: every event that is stored by then, each once, with the dead
letters and the state of the local control plane. Files that DIR has already are not copied again. DIR is a data folder then. To restore,
copy it and start the program on the copy. Where the backup is killed or fails, DIR holds the one before; what is sent replaces it only
where it is of the same store, not older, and whole.

DIR holds secrets, too: only its owner can read what is made in it. A DIR that others may write to is refused.

${PROGRAM_HELP}
      The key needs all zones and the scope admin.

Exit status: 0 done, 1 failed, 2 wrong usage.
`;

const NEEDS = 'backup needs DIR, the folder of the backup';

interface Copied {
  readonly files: number;
  readonly bytes: number;
  readonly there: number;
  readonly removed: number;
  readonly events: number;
}

/** Asks for what the folder lacks. Throws DeliveryError. */
async function ask(program: AskedProgram, folder: BackupFolder): Promise<BackupAnswer> {
  const body = JSON.stringify({ files: await folder.files() });
  const answer = await openAnswer(program, { method: 'POST', path: '/backup', body, accept: BACKUP_TYPE });
  return new BackupAnswer(answer.body, program.url.origin);
}

/** Writes what is sent into the folder, and puts it in place. Throws DeliveryError and CommandFailed. */
async function receive(answer: BackupAnswer, folder: BackupFolder, stderr: CommandIo['stderr']): Promise<Copied> {
  const { store, files } = await answer.head();
  folder.refuseStore(store);
  for (const { name } of files) folder.refuseName(name);
  await folder.clear();
  const sent = files.filter((file) => file.sent);
  const bytes = sent.reduce((sum, file) => sum + file.bytes, 0);
  const progress = startByteProgress(stderr, bytes, 'received');
  try {
    for (const file of sent) await folder.write(file.name, progress.watch(answer.bytes(file.bytes)));
    await answer.end();
  } finally {
    progress.stop();
  }
  const { events, removed } = await folder.finish();
  return { files: sent.length, bytes, there: files.length - sent.length, removed, events };
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, positionals } = parseCommandLine(args, PROGRAM_FLAGS);
  const [dir, extra] = positionals;
  if (dir === undefined || dir === '') throw new UsageError(NEEDS);
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'; ${NEEDS}`);
  const program = programOf(flags, io.env);
  const begunMs = performance.now();
  let answer: BackupAnswer | undefined;
  try {
    const folder = await BackupFolder.open(dir);
    answer = await ask(program, folder);
    const { files, bytes, there, removed, events } = await receive(answer, folder, io.stderr);
    const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1);
    const others = `${there} files were there already, and ${removed} of earlier backups are removed`;
    io.stderr.write(`${files} files with ${bytes} bytes copied in ${seconds} s; ${others}\n`);
    io.stderr.write(`${printable(folder.path)} holds ${events} events\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    throw new CommandFailed(`${error.message}; ${dir} is as it was before`, { cause: error });
  } finally {
    await answer?.close();
    program.client.close();
  }
}

export const backupCommand: Command = {
  help: () => HELP,
  run,
};
