type Texts = Readonly<Record<string, string>>;

const UPSTREAM: Texts = { UPSTREAM_URL: 'https://api.example' };
const DATABASE: Texts = { SERVICE_DATABASE_URL: 'https://db.example' };

/** Values of the variables that say who answers the management operations: taken, and as what. */
export const EDGE_GOOD: readonly (readonly [name: string, text: string, key: string, value: unknown, besides?: Texts])[] = [
  ['UPSTREAM_URL', 'https://api.example', 'upstreamUrl', 'https://api.example'],
  ['UPSTREAM_URL', 'https://api.example/a%20b/../c', 'upstreamUrl', 'https://api.example/c'],
  ['UPSTREAM_URL', 'HTTP://127.0.0.1:8081/edge/v1//', 'upstreamUrl', 'http://127.0.0.1:8081/edge/v1'],
  [
    'UPSTREAM_URL_OVERRIDES',
    '4=https://dns.example/, 9=local,13=http://[::1]:1',
    'upstreamOverrides',
    new Map([
      [4, { kind: 'url', url: 'https://dns.example' }],
      [9, { kind: 'local' }],
      [13, { kind: 'url', url: 'http://[::1]:1' }],
    ]),
  ],
  ['UPSTREAM_ACCESS_KEY', 'k:e,y=', 'upstreamAccessKey', 'k:e,y=', UPSTREAM],
  ['SERVICE_DATABASE_URL', 'libsql://abc.db.example', 'serviceDatabaseUrl', 'https://abc.db.example'],
  ['SERVICE_DATABASE_URL', 'LIBSQL://abc.db.example:8443/', 'serviceDatabaseUrl', 'https://abc.db.example:8443'],
  ['SERVICE_DATABASE_URL', 'http://127.0.0.1:8081', 'serviceDatabaseUrl', 'http://127.0.0.1:8081'],
  ['SERVICE_DATABASE_AUTH_TOKEN', 'eyJ.a-b_c', 'serviceDatabaseAuthToken', 'eyJ.a-b_c', DATABASE],
  ['CHALLENGE_RESOLVER_URL', 'http://127.0.0.1:8082', 'challengeResolverUrl', 'http://127.0.0.1:8082/'],
];

/** And those that stop the start. */
export const EDGE_BAD: readonly (readonly [name: string, text: string, besides?: Texts])[] = [
  ['UPSTREAM_URL', 'api.example'],
  ['UPSTREAM_URL', 'ftp://api.example'],
  ['UPSTREAM_URL', 'https://user:pass@api.example'],
  ['UPSTREAM_URL', 'https://api.example/?key=1'],
  ['UPSTREAM_URL', 'https://api.example/#a'],
  ['UPSTREAM_URL', 'https://api.example/%'],
  ['UPSTREAM_URL', 'https://api.example/a%2F..%2Fb'],
  ['UPSTREAM_URL_OVERRIDES', '1=https://api.example'],
  ['UPSTREAM_URL_OVERRIDES', '14=https://api.example'],
  ['UPSTREAM_URL_OVERRIDES', '4=https://a.example,4=local'],
  ['UPSTREAM_URL_OVERRIDES', '4='],
  ['UPSTREAM_URL_OVERRIDES', '4=dns.example'],
  ['UPSTREAM_URL_OVERRIDES', 'four=local'],
  ['UPSTREAM_URL_OVERRIDES', '4=local,'],
  ['UPSTREAM_ACCESS_KEY', 'two words', UPSTREAM],
  ['UPSTREAM_ACCESS_KEY', 'key\r\nX-Other: 1', UPSTREAM],
  ['UPSTREAM_ACCESS_KEY', 'alone'],
  ['SERVICE_DATABASE_URL', 'abc.db.example'],
  ['SERVICE_DATABASE_URL', 'file:///etc/passwd'],
  ['SERVICE_DATABASE_URL', 'libsql://abc.db.example?authToken=secret'],
  ['SERVICE_DATABASE_URL', 'wss://abc.db.example'],
  ['SERVICE_DATABASE_AUTH_TOKEN', 'a b', DATABASE],
  ['SERVICE_DATABASE_AUTH_TOKEN', 'alone'],
  ['CHALLENGE_RESOLVER_URL', 'https://127.0.0.1'],
];
