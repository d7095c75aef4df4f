import type { ConfigVariable } from './config-variable.ts';
import {
  CREDENTIAL_FORM,
  DATABASE_URL_FORM,
  parseCredential,
  parseDatabaseUrl,
  parseResolverUrl,
  parseUpstreamOverrides,
  parseUpstreamUrl,
  UPSTREAM_OVERRIDES_FORM,
  UPSTREAM_URL_FORM,
  type UpstreamChoice,
} from './edge-config-value.ts';

/** The values of the variables below; null where they are not set. */
export interface EdgeConfigValues {
  readonly upstreamUrl: string | null;
  /** By operation number; those without an entry are answered by `upstreamUrl`. */
  readonly upstreamOverrides: ReadonlyMap<number, UpstreamChoice> | null;
  readonly upstreamAccessKey: string | null;
  readonly serviceDatabaseUrl: string | null;
  readonly serviceDatabaseAuthToken: string | null;
  readonly challengeResolverUrl: string | null;
}

type EdgeVariable = { [K in keyof EdgeConfigValues]: ConfigVariable<K, NonNullable<EdgeConfigValues[K]>> }[keyof EdgeConfigValues];

/** Who answers the operations beside the search. A secret's address is not shown either: it may have the secret in it by mistake. */
export const EDGE_CONFIG_VARIABLES: readonly EdgeVariable[] = [
  {
    key: 'upstreamUrl',
    name: 'UPSTREAM_URL',
    default: null,
    allowed: UPSTREAM_URL_FORM,
    about: 'Who answers the management operations 2 to 13; unset: the local control plane, its state in DATA_DIR',
    secret: true,
    parse: parseUpstreamUrl,
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
      "Sent to that database; callers then present, as their bearer token, an access key with the scope database. Unset: the caller's own token is sent on",
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
];
