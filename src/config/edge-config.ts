import type { Operation } from '../../edge/operations/operation.ts';
import { MANAGEMENT_NUMBERS, rangesText } from '../../edge/operations/operations.ts';
import type { UpstreamTarget } from '../../edge/proxy/upstream-request.ts';
import { parseUrlSetting, parseWebUrl, WEB_URL_FORM } from './address-setting.ts';
import { accept, type ConfigVariable, type ParsedValue, refuse, type ValuesOf } from './config-value.ts';

/** The upstream of one operation: an address, or the local control plane. */
type UpstreamChoice = { readonly kind: 'url'; readonly url: string } | { readonly kind: 'local' };

/** The operations that may have an upstream of their own, as messages name them. */
const ALLOWED_NUMBERS = rangesText(MANAGEMENT_NUMBERS, '..');

const DATABASE_URL_FORM = 'a libsql:, https: or http: URL without credentials, query and fragment; libsql: is https';

/** Parses SERVICE_DATABASE_URL. `libsql:` becomes `https:`. */
function parseDatabaseUrl(text: string): ParsedValue<string> {
  // URL does not parse the hosts of schemes that it does not know.
  const web = text.replace(/^libsql:/i, 'https:');
  const parsed = parseUrlSetting(web, ['http', 'https']);
  return parsed.kind === 'value' ? accept(parsed.value.href.replace(/\/+$/, '')) : parsed;
}

const LOCAL_FORM = 'local instead of a URL is the local control plane';
const UPSTREAM_OVERRIDES_FORM = `number=URL items separated by commas, number ${ALLOWED_NUMBERS} as in /openapi.json; ${LOCAL_FORM}`;

/** Parses UPSTREAM_URL_OVERRIDES: `4=https://dns.example,9=local`. */
function parseUpstreamOverrides(text: string): ParsedValue<ReadonlyMap<number, UpstreamChoice>> {
  const choices = new Map<number, UpstreamChoice>();
  for (const item of text.split(',').map((part) => part.trim())) {
    const [, digits = '', target = ''] = /^(\d{1,2})=(.+)$/.exec(item) ?? [];
    const number = Number(digits);
    if (!MANAGEMENT_NUMBERS.includes(number)) return refuse(`an item does not begin with an operation number ${ALLOWED_NUMBERS} and =`);
    if (choices.has(number)) return refuse(`operation ${number} is there twice`);
    if (target === 'local') {
      choices.set(number, { kind: 'local' });
      continue;
    }
    const parsed = parseWebUrl(target);
    if (parsed.kind === 'refused') return refuse(`operation ${number}: ${parsed.why ?? WEB_URL_FORM}`);
    choices.set(number, { kind: 'url', url: parsed.value });
  }
  return accept(choices);
}

const MAX_CREDENTIAL_LENGTH = 4_096;
const CREDENTIAL = new RegExp(`^[\\x21-\\x7e]{1,${MAX_CREDENTIAL_LENGTH}}$`);
const CREDENTIAL_FORM = `1 to ${MAX_CREDENTIAL_LENGTH} printable ASCII characters without blank`;

/** Parses a key or token for a header. */
function parseCredential(text: string): ParsedValue<string> {
  return CREDENTIAL.test(text) ? accept(text) : refuse();
}

/** Parses CHALLENGE_RESOLVER_URL. */
function parseResolverUrl(text: string): ParsedValue<string> {
  const parsed = parseUrlSetting(text, ['http']);
  return parsed.kind === 'value' ? accept(parsed.value.href) : parsed;
}

/** The settings of the upstreams. URLs are secrets, too, because one may hold a secret by mistake. */
export const EDGE_CONFIG_VARIABLES = [
  {
    key: 'upstreamUrl',
    name: 'UPSTREAM_URL',
    default: null,
    allowed: WEB_URL_FORM,
    about: `Who answers the management operations ${rangesText(MANAGEMENT_NUMBERS)}; unset: the local control plane, its state in DATA_DIR`,
    secret: true,
    parse: parseWebUrl,
  },
  {
    key: 'upstreamOverrides',
    name: 'UPSTREAM_URL_OVERRIDES',
    default: null,
    allowed: UPSTREAM_OVERRIDES_FORM,
    about: 'Another answerer for some of them, such as `4=https://dns.example,9=local`',
    secret: true,
    parse: parseUpstreamOverrides,
  },
  {
    key: 'upstreamAccessKey',
    name: 'UPSTREAM_ACCESS_KEY',
    default: null,
    allowed: CREDENTIAL_FORM,
    about: "Sent to those URLs in place of the caller's AccessKey; unset: the caller's own is sent on",
    secret: true,
    parse: parseCredential,
  },
  {
    key: 'serviceDatabaseUrl',
    name: 'SERVICE_DATABASE_URL',
    default: null,
    allowed: DATABASE_URL_FORM,
    about: 'The database behind `/v2/pipeline`; unset: the local one',
    secret: true,
    parse: parseDatabaseUrl,
  },
  {
    key: 'serviceDatabaseAuthToken',
    name: 'SERVICE_DATABASE_AUTH_TOKEN',
    default: null,
    allowed: `${CREDENTIAL_FORM}; needs SERVICE_DATABASE_URL`,
    about:
      'Sent to that database; callers then present, as their bearer token, an access key with the scope database. ' +
      "Unset: the caller's own token is sent on",
    secret: true,
    parse: parseCredential,
  },
  {
    key: 'challengeResolverUrl',
    name: 'CHALLENGE_RESOLVER_URL',
    default: null,
    allowed: 'an http: URL without credentials, query and fragment',
    about: 'Where the local control plane looks for the files of HTTP certificate challenges; unset: at itself',
    parse: parseResolverUrl,
  },
] as const satisfies readonly ConfigVariable[];

type EdgeConfigValues = ValuesOf<typeof EDGE_CONFIG_VARIABLES>;

export type UpstreamConfig = Pick<
  EdgeConfigValues,
  'upstreamUrl' | 'upstreamOverrides' | 'upstreamAccessKey' | 'serviceDatabaseUrl' | 'serviceDatabaseAuthToken'
>;

/** How to reach the local control plane. */
export interface LocalPlane {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Throws EdgeError 401 unless an `Authorization` header has a token of the local database. Absent: the plane itself checks it. */
  readonly requireDatabaseToken?: (authorization: string | undefined) => void;
}

function managementChoice({ upstreamUrl, upstreamOverrides }: UpstreamConfig, number: number): UpstreamChoice {
  return upstreamOverrides?.get(number) ?? (upstreamUrl === null ? { kind: 'local' } : { kind: 'url', url: upstreamUrl });
}

function managementTarget(config: UpstreamConfig, number: number, local: () => LocalPlane): UpstreamTarget {
  const choice = managementChoice(config, number);
  // The plane knows its proxies by the secret. The caller's key has been checked before.
  if (choice.kind === 'local') return localTarget(local);
  const { upstreamAccessKey } = config;
  return upstreamAccessKey === null
    ? { url: choice.url, headers: {}, passes: ['accesskey'] }
    : { url: choice.url, headers: { accesskey: upstreamAccessKey }, passes: [] };
}

function databaseTarget({ serviceDatabaseUrl, serviceDatabaseAuthToken }: UpstreamConfig, local: () => LocalPlane): UpstreamTarget {
  if (serviceDatabaseUrl === null) return { ...localTarget(local), passes: ['authorization'] };
  return serviceDatabaseAuthToken === null
    ? { url: serviceDatabaseUrl, headers: {}, passes: ['authorization'] }
    : { url: serviceDatabaseUrl, headers: { authorization: `Bearer ${serviceDatabaseAuthToken}` }, passes: [] };
}

function localTarget(local: () => LocalPlane): UpstreamTarget & { readonly isLocal: true } {
  const { url, headers } = local();
  return { url, headers, passes: [], isLocal: true };
}

/**
 * The upstream of an operation by the configuration, or the local control plane, whose address is asked for only then. Throws what `local`
 * throws.
 */
export function upstreamFor(config: UpstreamConfig, { number, key, upstream }: Operation, local: () => LocalPlane): UpstreamTarget {
  if (upstream === 'local') return localTarget(local);
  const target = upstream === 'database' ? databaseTarget(config, local) : managementTarget(config, number, local);
  // Operations without a key send no credential of ours. The secret of the plane stays, because it only says who forwards.
  return key === 'none' && !('isLocal' in target) ? { url: target.url, headers: {}, passes: [] } : target;
}
