import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncFolder } from '../../store/data-folder.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { CommandFailed } from './command.ts';

/**
 * The folder of states that no flag names: `$XDG_STATE_HOME/shieldlog` (unset: `~/.local/state/shieldlog`). Throws CommandFailed where
 * `home` throws, which is for a user that the system knows nothing of but a number.
 */
export function stateFolder(env: Readonly<Record<string, string | undefined>>, home: () => string = homedir): string {
  try {
    return join(env['XDG_STATE_HOME'] || join(home(), '.local', 'state'), 'shieldlog');
  } catch (error) {
    const why = 'this user has no home folder, so there is no place for the state';
    throw new CommandFailed(`${why}; name one with --state, or with XDG_STATE_HOME`, { cause: error });
  }
}

/** `COMMAND-HASH.json`, with a hash of what the state is of. */
export function stateFileName(command: string, identity: readonly string[]): string {
  return `${command}-${createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16)}.json`;
}

/**
 * Locks a file beside the state through SQLite: the operating system releases the lock when the process ends. Throws CommandFailed, with
 * `whyBusy` where another process has it.
 */
export function lockStateFile(path: string, whyBusy: string): DatabaseSync {
  let database: DatabaseSync;
  try {
    mkdirSync(dirname(path), { recursive: true });
    database = new DatabaseSync(`${path}.lock`, { timeout: 0 });
  } catch (error) {
    throw new CommandFailed(`the state ${path} cannot be used: ${(error as Error).message}`, { cause: error });
  }
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    const busy = (error as { readonly errcode?: number }).errcode === 5;
    throw new CommandFailed(`the state ${path} cannot be used: ${busy ? whyBusy : (error as Error).message}`, { cause: error });
  }
}

/** The text of a state; null where there is none yet. Throws CommandFailed. */
export function readStateFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandFailed(`the state ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Resolves when the state is on disk. A crash leaves either the previous state or this one. Throws DeliveryError. */
export async function writeStateFile(path: string, text: string): Promise<void> {
  try {
    const temporary = `${path}.tmp`;
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    throw new DeliveryError('unavailable', `the state ${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
