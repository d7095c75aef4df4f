import { createHash, timingSafeEqual } from 'node:crypto';
import { accept, type ParsedValue, refuse } from './config-value.ts';
import { ZONE_ID_RANGE, zoneIdIn } from './zone-id.ts';

/**
 * `read` asks, `ingest` sends events, `manage` changes what the management operations keep. A key that names none of them has all three.
 */
const GENERAL_SCOPES = ['read', 'ingest', 'manage'] as const;

/**
 * `metrics` reads /metrics off loopback; `admin` reaches into DATA_DIR as a whole. Keys of all zones have both, others have to name them.
 */
const PROGRAM_SCOPES = ['metrics', 'admin'] as const;

/** What a key may do. `personal`: operations 9 to 11; `database`: the upstream database whose token the program holds. */
export const SCOPES = [...GENERAL_SCOPES, 'personal', 'database', ...PROGRAM_SCOPES] as const;
export type Scope = (typeof SCOPES)[number];

/** Someone who may call: the key itself is forgotten once its SHA-256 is taken. */
export interface AccessKey {
  readonly name: string;
  readonly hash: Uint8Array;
  /** The shield zones the key opens; `all` opens every one. */
  readonly zones: 'all' | ReadonlySet<number>;
  readonly scopes: ReadonlySet<Scope>;
}

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
/** Long enough that guessing is hopeless; without blanks and separators, so that it can stand in a list and in a header. */
const KEY = /^[\x21-\x2b\x2d-\x39\x3b-\x7e]{16,256}$/;

export const ACCESS_KEYS_FORM =
  'name:key:zones entries, separated by commas or new lines; a key is 16 to 256 printable ASCII characters without blank, comma or colon; zones is * or zone ids separated by +; a fourth part :scopes is optional, such as read+personal: read, ingest and manage (none of these three named: all three), personal, database, metrics and admin (zones *: both)';

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

function parseZones(text: string): AccessKey['zones'] | null {
  if (text === '*') return 'all';
  const ids = text.split('+').map(zoneIdIn);
  return ids.every((id) => id !== null) ? new Set(ids) : null;
}

/** No fourth part names no scope; an empty one is a mistake. */
function parseScopes(text: string | undefined): readonly Scope[] | null {
  if (text === undefined) return [];
  const scopes = text.split('+').map((name) => SCOPES.find((scope) => scope === name.trim()));
  return scopes.every((scope) => scope !== undefined) ? scopes : null;
}

/** What a key has by the scopes that its entry names and by its zones. */
function scopesOf(named: readonly Scope[], zones: AccessKey['zones']): ReadonlySet<Scope> {
  const namesGeneral = GENERAL_SCOPES.some((scope) => named.includes(scope));
  return new Set<Scope>([...(namesGeneral ? [] : GENERAL_SCOPES), ...named, ...(zones === 'all' ? PROGRAM_SCOPES : [])]);
}

/** Parses ACCESS_KEYS, which must have an entry. Reasons name an entry by its place and name, never its key. */
export function parseAccessKeys(text: string): ParsedValue<readonly AccessKey[]> {
  const entries = text
    .split(/[,\r\n]+/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) return refuse('it is set but has no entry (unset it to start without access keys)');
  const keys: AccessKey[] = [];
  for (const [index, entry] of entries.entries()) {
    const place = `entry ${index + 1} of ${entries.length}`;
    const [name = '', key = '', zoneText, scopeText, ...rest] = entry.split(':');
    if (zoneText === undefined || rest.length > 0)
      return refuse(`${place} does not have the three parts name:key:zones, or these and scopes`);
    if (!NAME.test(name)) return refuse(`${place}: the name is not 1 to 64 letters, digits, dots, dashes or underscores`);
    if (!KEY.test(key))
      return refuse(`${place} ("${name}"): the key is not 16 to 256 printable ASCII characters without blank, comma or colon`);
    const zones = parseZones(zoneText.trim());
    if (zones === null)
      return refuse(`${place} ("${name}"): the zones "${zoneText}" are neither * nor zone ids ${ZONE_ID_RANGE} separated by +`);
    const named = parseScopes(scopeText);
    if (named === null) return refuse(`${place} ("${name}"): the scopes "${scopeText}" are not ${SCOPES.join(' or ')}, separated by +`);
    const hash = hashKey(key);
    if (keys.some((other) => other.name === name)) return refuse(`${place}: the name "${name}" is taken by an earlier entry`);
    const twin = keys.find((other) => timingSafeEqual(other.hash, hash));
    if (twin !== undefined) return refuse(`${place} ("${name}"): its key is also that of "${twin.name}"`);
    keys.push({ name, hash, zones, scopes: scopesOf(named, zones) });
  }
  return accept(keys);
}

/** The entry that a presented key belongs to. Takes the same time whichever entry matches, or none. */
export function findAccessKey(keys: readonly AccessKey[], presented: string): AccessKey | undefined {
  const hash = hashKey(presented);
  let found: AccessKey | undefined;
  for (const key of keys) {
    if (timingSafeEqual(key.hash, hash)) found = key;
  }
  return found;
}

export function opensZone(key: AccessKey, zoneId: number): boolean {
  return key.zones === 'all' || key.zones.has(zoneId);
}
