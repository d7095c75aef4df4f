import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncFolder } from '../../../store/data-folder.ts';
import { DeliveryError } from '../../sinks/delivery-error.ts';
import type { SinkPosition } from '../../sinks/sink.ts';
import { CommandFailed } from '../command.ts';

/** Which feed goes where: what a state belongs to. */
export interface FeedIdentity {
  readonly url: string;
  readonly zone: string;
  readonly format: string;
  readonly to: string;
}

export interface FeedState {
  /** Null: nothing was accepted yet. */
  readonly cursor: string | null;
  /** Where the sink of the cursor stood. */
  readonly position: SinkPosition;
  /** The zones up to the cursor, as the feed's answer named them; null: it did not. */
  readonly zones: string | null;
}

/** The state file, locked against other processes until it is closed or the process dies. */
export interface FeedStateFile {
  readonly path: string;
  /** As it was found. */
  readonly state: FeedState;
  /** On disk when it resolves; a crash leaves the state of before or this one. Throws DeliveryError. */
  save(state: FeedState): Promise<void>;
  close(): void;
}

/** `$XDG_STATE_HOME/shieldlog/feed-….json` (unset: `~/.local/state/…`), named after a hash of the identity. */
export function defaultStateFile(identity: FeedIdentity, env: Readonly<Record<string, string | undefined>>): string {
  const { url, zone, format, to } = identity;
  const hash = createHash('sha256')
    .update(JSON.stringify([url, zone, format, to]))
    .digest('hex')
    .slice(0, 16);
  return join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'shieldlog', `feed-${hash}.json`);
}

/** The lock is the system's, on a file beside the state: it goes with the process, however that ends. */
function lock(path: string): DatabaseSync {
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
    const why = busy ? 'another shieldlog feed is using it; give each its own with --state' : (error as Error).message;
    throw new CommandFailed(`the state ${path} cannot be used: ${why}`, { cause: error });
  }
}

function parseState(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
    const cursor = value?.['cursor'];
    if (value !== null && (typeof cursor === 'string' || cursor === null)) return value;
  } catch {
    // The same words as for JSON that is something else.
  }
  throw new CommandFailed(`the state ${path} is not one of shieldlog feed; remove it to begin with the oldest events, or name another`);
}

function readState(path: string, identity: FeedIdentity): FeedState {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { cursor: null, position: null, zones: null };
    throw new CommandFailed(`the state ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const found = parseState(path, text);
  if (found['zone'] !== identity.zone) {
    throw new CommandFailed(
      `the state ${path} is of the feed of zone ${String(found['zone'])}, not ${identity.zone}; name another with --state`,
    );
  }
  // Another sink begins in its own place, at the same cursor.
  const position = found['to'] === identity.to ? ((found['position'] ?? null) as SinkPosition) : null;
  const zones = found['zones'];
  return { cursor: found['cursor'] as string | null, position, zones: typeof zones === 'string' ? zones : null };
}

/** Locks and reads the state. Throws CommandFailed: in use, unreadable, or of another feed. */
export function openFeedState(file: string, identity: FeedIdentity): FeedStateFile {
  const path = resolve(file);
  const held = lock(path);
  let state: FeedState;
  try {
    state = readState(path, identity);
  } catch (error) {
    held.close();
    throw error;
  }
  async function write({ cursor, position, zones }: FeedState): Promise<void> {
    const temporary = `${path}.tmp`;
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ ...identity, cursor, position, zones })}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  }
  return {
    path,
    state,
    save: async (next) => {
      try {
        await write(next);
      } catch (error) {
        throw new DeliveryError('unavailable', `the state ${path} cannot be written: ${(error as Error).message}`, { cause: error });
      }
    },
    close: () => held.close(),
  };
}
