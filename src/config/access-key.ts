import { createHash, timingSafeEqual } from 'node:crypto';
import { ZONE_ID_RANGE, zoneIdIn } from '../../query/zone-id.ts';
import { accept, type ParsedValue, refuse } from './config-value.ts';

/**
 * `read` is for searching, `ingest` for sending events, `manage` for changing what the management operations keep. A key that names none of
 * them has all three.
 */
const GENERAL_SCOPES = ['read', 'ingest', 'manage'] as const;

/**
 * `metrics` is for /metrics, `admin` for what reaches all of DATA_DIR. Keys of all zones have both; others have to name them.
 */
const PROGRAM_SCOPES = ['metrics', 'admin'] as const;

/** `personal` is for operations that need a personal key, `database` for the upstream database whose token the program holds. */
export const SCOPES = [...GENERAL_SCOPES, 'personal', 'database', ...PROGRAM_SCOPES] as const;
export type Scope = (typeof SCOPES)[number];

/** A key that may call. Only the SHA-256 of its text is kept. */
export interface AccessKey {
  readonly name: string;
  readonly hash: Uint8Array;
  /** The shield zones that the key opens; `all` means every zone. */
  readonly zones: 'all' | ReadonlySet<number>;
  readonly scopes: ReadonlySet<Scope>;
  /** The mapping of all that the key sends in; null: that of the request, if any. */
  readonly mapping: string | null;
}

const MAX_NAME_LENGTH = 64;
const NAME = new RegExp(`^[A-Za-z0-9._-]{1,${MAX_NAME_LENGTH}}$`);

/** Keys of this length cannot be guessed. They have no blanks and separators, so that they can stand in a list and in a header. */
const KEY_LENGTH = { min: 16, max: 256 };
const KEY = new RegExp(`^[\\x21-\\x2b\\x2d-\\x39\\x3b-\\x7e]{${KEY_LENGTH.min},${KEY_LENGTH.max}}$`);
const KEY_FORM = `${KEY_LENGTH.min} to ${KEY_LENGTH.max} printable ASCII characters without blank, comma or colon`;

export const ACCESS_KEYS_FORM =
  `name:key:zones entries, separated by commas or new lines; a key is ${KEY_FORM}; zones is * or zone ids separated by +; ` +
  'a fourth part :scopes is optional, such as read+personal: read, ingest and manage (none of these three named: all three), ' +
  'personal, database, metrics and admin (zones *: both); a fifth part :mapping, behind the scopes, names the mapping of all that the ' +
  'key sends in';

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

function parseZones(text: string): AccessKey['zones'] | null {
  if (text === '*') return 'all';
  const ids = text.split('+').map(zoneIdIn);
  return ids.every((id) => id !== null) ? new Set(ids) : null;
}

/** The scopes of the fourth part of an entry. Without that part none is named; an empty part is a mistake. */
function parseScopes(text: string | undefined): readonly Scope[] | null {
  if (text === undefined) return [];
  const scopes = text.split('+').map((name) => SCOPES.find((scope) => scope === name.trim()));
  return scopes.every((scope) => scope !== undefined) ? scopes : null;
}

/** The scopes of a key, by those that its entry names and by its zones. */
function scopesOf(named: readonly Scope[], zones: AccessKey['zones']): ReadonlySet<Scope> {
  const namesGeneral = GENERAL_SCOPES.some((scope) => named.includes(scope));
  return new Set<Scope>([...(namesGeneral ? [] : GENERAL_SCOPES), ...named, ...(zones === 'all' ? PROGRAM_SCOPES : [])]);
}

/**
 * Parses ACCESS_KEYS. Reasons name an entry by its number, and quote nothing of it: a key with a comma or a colon inside, or parts in
 * another order, make any part of an entry a part of a key.
 */
export function parseAccessKeys(text: string): ParsedValue<readonly AccessKey[]> {
  const entries = text
    .split(/[,\r\n]+/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) return refuse('it is set but has no entry (unset it to start without access keys)');
  const keys: AccessKey[] = [];
  for (const [index, entry] of entries.entries()) {
    const which = `entry ${index + 1} of ${entries.length}`;
    const [name = '', key = '', zoneText, scopeText, mappingText, ...rest] = entry.split(':');
    if (zoneText === undefined || rest.length > 0)
      return refuse(`${which} does not have the three parts name:key:zones, or these and scopes, or all of these and a mapping`);
    if (!NAME.test(name)) return refuse(`${which}: the name is not 1 to ${MAX_NAME_LENGTH} letters, digits, dots, dashes or underscores`);
    if (!KEY.test(key)) return refuse(`${which}: the key is not ${KEY_FORM}`);
    const zones = parseZones(zoneText.trim());
    if (zones === null) return refuse(`${which}: the zones are neither * nor zone ids ${ZONE_ID_RANGE} separated by +`);
    const named = parseScopes(scopeText);
    if (named === null) return refuse(`${which}: the scopes are not ${SCOPES.join(' or ')}, separated by +`);
    const mapping = mappingText?.trim() ?? null;
    if (mapping === '') return refuse(`${which}: the mapping is empty (leave the last colon out, too)`);
    const hash = hashKey(key);
    const namesake = keys.findIndex((other) => other.name === name);
    if (namesake >= 0) return refuse(`${which}: its name is also that of entry ${namesake + 1}`);
    const twin = keys.findIndex((other) => timingSafeEqual(other.hash, hash));
    if (twin >= 0) return refuse(`${which}: its key is also that of entry ${twin + 1}`);
    keys.push({ name, hash, zones, scopes: scopesOf(named, zones), mapping });
  }
  return accept(keys);
}

/** Finds the entry of a presented key. It takes the same time whichever entry matches, or none. */
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
