import { join, resolve } from 'node:path';
import { hasPart, type ZonePart, zonePartIn } from '../../../query/plan/feed-zones.ts';
import type { SinkPosition } from '../../sinks/sink.ts';
import { CommandFailed } from '../command.ts';
import { lockStateFile, readStateFile, stateFileName, stateFolder, writeStateFile } from '../state-file.ts';

/** The feed and the target to which a state belongs. */
export interface FeedIdentity {
  readonly url: string;
  readonly zone: string;
  /** The part of the zones, `K/N`; null: all of them. */
  readonly part: string | null;
  /** The search line of its events; null: all of them. */
  readonly search: string | null;
  readonly format: string;
  readonly to: string;
}

export interface FeedState {
  /** Null until the first batch is accepted. */
  readonly cursor: string | null;
  /** The sink's position after the last accepted batch. */
  readonly position: SinkPosition;
  /** The zones that the feed's last answer for `all` covered; null for other feeds. */
  readonly zones: string | null;
}

/** The state file, locked against other processes until it is closed or the process ends. Nothing removes a state that is not used. */
export interface FeedStateFile {
  readonly path: string;
  /** The state when the file was opened. */
  readonly state: FeedState;
  /** Resolves when the state is on disk. A crash leaves either the previous state or this one. Throws DeliveryError. */
  save(state: FeedState): Promise<void>;
  close(): void;
}

/** `$XDG_STATE_HOME/shieldlog/feed-….json` (unset: `~/.local/state/…`), with a hash of the identity in its name. */
export function defaultStateFile(identity: FeedIdentity, env: Readonly<Record<string, string | undefined>>): string {
  const { url, zone, part, search, format, to } = identity;
  const narrowed = [...(part === null ? [] : [part]), ...(search === null ? [] : ['search', search])];
  return join(stateFolder(env), stateFileName('feed', [url, zone, format, to, ...narrowed]));
}

function parseState(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
    const cursor = value?.['cursor'];
    if (value !== null && (typeof cursor === 'string' || cursor === null)) return value;
  } catch {
    // Thrown below, as for JSON of another shape.
  }
  throw new CommandFailed(`the state ${path} is not one of shieldlog feed; remove it to begin with the oldest events, or name another`);
}

/** The part that a state names; that of all zones where it names none. */
function partOf(part: unknown): ZonePart {
  return (typeof part === 'string' ? zonePartIn(part) : null) ?? { modulo: 1, remainder: 0 };
}

function named({ zone, part, search }: Readonly<Record<string, unknown>>): string {
  const ofPart = typeof part === 'string' ? `, part ${part}` : '';
  return `zone ${String(zone)}${ofPart}${typeof search === 'string' ? `, search ${JSON.stringify(search)}` : ''}`;
}

function readState(path: string, identity: FeedIdentity): FeedState {
  const text = readStateFile(path);
  if (text === null) return { cursor: null, position: null, zones: null };
  const found = parseState(path, text);
  // What a whole has read, its parts have read.
  const isOfSearch = (found['search'] ?? null) === identity.search;
  if (found['zone'] !== identity.zone || !isOfSearch || !hasPart(partOf(found['part']), partOf(identity.part))) {
    throw new CommandFailed(
      `the state ${path} is of the feed of ${named(found)}, not of ${named({ ...identity })}; name another with --state`,
    );
  }
  // Another target takes over the cursor, but not the position.
  const position = found['to'] === identity.to ? ((found['position'] ?? null) as SinkPosition) : null;
  const zones = found['zones'];
  return { cursor: found['cursor'] as string | null, position, zones: typeof zones === 'string' ? zones : null };
}

/** Locks and reads the state. Throws CommandFailed where it is in use, unreadable, or of another feed. */
export function openFeedState(file: string, identity: FeedIdentity): FeedStateFile {
  const path = resolve(file);
  const held = lockStateFile(path, 'another shieldlog feed is using it; give each its own with --state');
  let state: FeedState;
  try {
    state = readState(path, identity);
  } catch (error) {
    held.close();
    throw error;
  }
  return {
    path,
    state,
    save: async ({ cursor, position, zones }) => writeStateFile(path, `${JSON.stringify({ ...identity, cursor, position, zones })}\n`),
    close: () => held.close(),
  };
}
