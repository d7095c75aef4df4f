import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESCRIBED_OPERATIONS } from '../openapi/document-check.ts';
import { documentedCall } from '../openapi/documented-call.ts';
import type { Call } from '../openapi/driven-answer.ts';
import { isOfPage, type ServedRoute, startWithRoutes } from '../openapi/served-routes.ts';
import type { Site } from '../openapi/site.ts';

const KEY = 'key-of-everything-1';

/**
 * What a route asks of its callers: an access key, a token of the database, or nothing; a page may be opened from links as well. Splunk's
 * collector answers a wrong key with 403.
 */
type Kind = 'key' | 'collector' | 'token' | 'open' | 'page' | 'any name';

/** The routes that are not of the kind `key`. */
const KINDS: Readonly<Record<string, Kind>> = {
  '/healthz': 'open',
  '/readyz': 'open',
  '/openapi.json': 'open',
  '/': 'page',
  '/page/*': 'open',
  '/docs': 'page',
  '/docs/': 'page',
  '/docs/json': 'open',
  '/docs/yaml': 'open',
  '/docs/static/*': 'open',
  '/docs/static/index.html': 'open',
  '/docs/static/swagger-initializer.js': 'open',
  '/.well-known/acme-challenge/{token}': 'any name',
  '/_cat/health': 'open',
  '/_license': 'open',
  '/services/collector': 'collector',
  '/services/collector/event': 'collector',
  '/services/collector/event/1.0': 'collector',
  '/services/collector/raw': 'collector',
  '/services/collector/raw/1.0': 'collector',
  '/services/collector/ack': 'collector',
  '/services/collector/health': 'open',
  '/v2': 'open',
  '/v2/pipeline': 'token',
  '/v3': 'open',
  '/v3/pipeline': 'token',
  '/v3/cursor': 'token',
};

type Outcome = 'let in' | 401 | 403;

interface Caller {
  readonly name: string;
  readonly site: 'keyed' | 'open';
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the caller has a token of the database, too. */
  readonly hasToken: boolean;
  /** For each kind of route. */
  readonly outcomes: Readonly<Record<Kind, Outcome>>;
}

const LET_IN = { key: 'let in', collector: 'let in', token: 'let in', open: 'let in', page: 'let in', 'any name': 'let in' } as const;
const WITHOUT_KEY = { ...LET_IN, key: 401, collector: 401, token: 401 } as const;
const WRONG_KEY = { ...WITHOUT_KEY, collector: 403 } as const;
const FOREIGN = { key: 403, collector: 403, token: 403, open: 403, page: 403, 'any name': 'let in' } as const;

function keyed(name: string, headers: Caller['headers'], outcomes: Caller['outcomes'], hasToken = false): Caller {
  return { name: `with keys: ${name}`, site: 'keyed', headers, hasToken, outcomes };
}

function open(name: string, headers: Caller['headers'], outcomes: Caller['outcomes']): Caller {
  return { name: `without keys: ${name}`, site: 'open', headers, hasToken: true, outcomes };
}

const CALLERS: readonly Caller[] = [
  keyed('a key', { accesskey: KEY }, LET_IN, true),
  keyed('a key, from a page elsewhere', { accesskey: KEY, origin: 'https://elsewhere.example' }, LET_IN, true),
  keyed('a wrong key', { accesskey: `${KEY}x` }, WRONG_KEY),
  keyed('no key', {}, WITHOUT_KEY),
  keyed('no key, under another name', { host: 'elsewhere.example' }, WITHOUT_KEY),
  keyed('a page elsewhere', { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }, WITHOUT_KEY),
  open('no key', {}, LET_IN),
  open('a wrong key', { accesskey: `${KEY}x` }, LET_IN),
  open('its own page', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, LET_IN),
  open('its address, typed', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, LET_IN),
  open('a page elsewhere', { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }, FOREIGN),
  open('a page elsewhere, in an old browser', { origin: 'https://elsewhere.example' }, FOREIGN),
  open('a page under another name', { host: 'elsewhere.example', 'sec-fetch-site': 'same-origin' }, FOREIGN),
  open('an image or a script elsewhere', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, FOREIGN),
  open('a link elsewhere', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, { ...FOREIGN, page: 'let in' }),
  open('a form elsewhere', { origin: 'null', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, FOREIGN),
];

let sites: Readonly<Record<Caller['site'], Site>>;
let routes: readonly ServedRoute[];

beforeAll(async () => {
  // On loopback, as behind a proxy on the same machine.
  const withKeys = await startWithRoutes({ HOST: '127.0.0.1', ACCESS_KEYS: `everything:${KEY}:*:read+ingest+manage+personal+database` });
  sites = { keyed: withKeys.site, open: (await startWithRoutes()).site };
  routes = withKeys.routes;
});

afterAll(async () => {
  for (const site of Object.values(sites)) await site.stop();
});

const kindOf = ({ path }: ServedRoute): Kind => KINDS[path] ?? 'key';

function callOf({ method, path }: ServedRoute): Call {
  if (isOfPage(path)) return { method, path };
  const described = DESCRIBED_OPERATIONS.find((operation) => operation.path === path && (method === 'HEAD' || operation.method === method));
  if (described === undefined) throw new Error(`${method} ${path} is not described`);
  const [type = 'application/json'] = Object.keys(described.requestBody?.content ?? {});
  const call = documentedCall(described, type);
  // A tail ends by itself only where it is refused.
  return { ...call, method, ...(path.endsWith('/tail') ? { path: `${call.path}&search=nonsense` } : {}) };
}

/** The status of an answer. `fetch` would not let us choose `Host` and the headers of browsers. */
async function statusOf({ url, tokens }: Site, { method, path, headers, body }: Call, caller: Caller): Promise<number> {
  const token: Call['headers'] = caller.hasToken ? { authorization: `Bearer ${tokens.full}` } : {};
  const framing = { host: new URL(url).host, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) };
  const request = httpRequest(`${url}${path}`, {
    method,
    setHost: false,
    headers: { ...framing, ...headers, ...token, ...caller.headers },
  });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.destroy();
  return answer.statusCode ?? 0;
}

test('every kind of route is served', () => {
  const paths = new Set(routes.map(({ path }) => path));
  expect(Object.keys(KINDS).filter((path) => !paths.has(path))).toEqual([]);
});

test.each(CALLERS)('$name: each route lets in whom its kind lets in', async (caller) => {
  const site = sites[caller.site];
  for (const route of routes) {
    const status = await statusOf(site, callOf(route), caller);
    const outcome = status === 401 || status === 403 ? status : 'let in';
    expect([`${route.method} ${route.path}`, outcome]).toEqual([`${route.method} ${route.path}`, caller.outcomes[kindOf(route)]]);
  }
});
