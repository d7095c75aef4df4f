import { type NewToken, openTokenStore, type TokenStore } from '../../edge/local/database/access-tokens.ts';
import { refuseLinks } from '../../store/data-folder.ts';
import { loadConfig } from '../config/config.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, OWNER_ONLY, parseAction, requireFolder } from './command.ts';

const ACTIONS = { generate: {}, regenerate: {}, list: {} };
type Action = keyof typeof ACTIONS;

const HELP = `Usage: shieldlog tokens generate|regenerate|list [flags]

The access tokens of the database at POST /v2/pipeline, kept in DATA_DIR. A running program sees a change at its next request.

  generate     make a Full Access and a Read Only token; the earlier ones stay valid
  regenerate   the same, and every earlier token is invalid at once, open streams included
  list         every valid token: its kind, when it was made, the beginning of its SHA-256

New tokens are written to standard output, once: only their hashes are kept.

  --data-dir DIR, DATA_DIR
      The folder of the program (default ./data). It has to be there: 'shieldlog serve' makes it.

Exit status: 0 done, 1 failed, 2 wrong usage.
`;

function writeNew(tokens: readonly NewToken[], { stdout, stderr }: CommandIo): void {
  for (const { kind, token } of tokens) stdout.write(`${kind}\t${token}\n`);
  stderr.write('These are shown only now: only their hashes are kept.\n');
}

function perform(action: Action, store: TokenStore, io: CommandIo): void {
  switch (action) {
    case 'generate':
      writeNew(store.generate(), io);
      break;
    case 'regenerate':
      writeNew(store.regenerate(), io);
      break;
    case 'list':
      for (const { kind, created, hash } of store.list()) {
        io.stdout.write(`${kind}\t${new Date(created).toISOString()}\t${hash.slice(0, 12)}\n`);
      }
  }
}

function openStore(dataDir: string): TokenStore {
  // Tokens in a folder that no program uses would be useless.
  requireFolder(dataDir);
  try {
    refuseLinks(dataDir);
    return openTokenStore(dataDir, Date.now);
  } catch (error) {
    throw new CommandFailed(`the tokens in ${dataDir} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { action, flags } = parseAction('tokens', args, ACTIONS, ['data-dir']);
  // Other settings are not read, because they may be set only for the program.
  const { dataDir } = loadConfig({ DATA_DIR: io.env['DATA_DIR'] }, flags);
  process.umask(OWNER_ONLY);
  const store = openStore(dataDir);
  try {
    perform(action, store, io);
    return 0;
  } finally {
    store.close();
  }
}

export const tokensCommand: Command = {
  help: () => HELP,
  run,
};
