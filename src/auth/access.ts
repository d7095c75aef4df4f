import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { requestPath } from '../../edge/operation-input.ts';
import { type AccessKey, findAccessKey, opensZone, type Scope } from '../config/access-key.ts';
import { hostNameOf, isLoopbackHost } from '../config/loopback.ts';
import { routePattern } from '../http/error-answers.ts';
import { invalidRequest, RequestProblem } from '../http/problem.ts';

/** The rights of a caller. */
export interface Caller {
  /** The name of its key; null without one. */
  readonly keyName: string | null;
  opensZone(zoneId: number): boolean;
  readonly opensEveryZone: boolean;
  readonly zones: AccessKey['zones'];
  hasScope(scope: Scope): boolean;
  /** The mapping of all that its key sends in; null where the key has none. */
  readonly mapping: string | null;
}

const ANYBODY: Caller = { keyName: null, opensZone: () => true, opensEveryZone: true, zones: 'all', hasScope: () => true, mapping: null };

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `never` needs no key; `optional` needs none either, but its route can tell a caller with a key from others. By default a key is
     * needed where any is configured. Without keys all routes refuse web pages of other sites, except those with `never-by-any-name`, which
     * are open to everyone under every host name.
     */
    readonly needsKey?: 'never' | 'never-by-any-name' | 'optional';
    /** A page for people, which a link on a page of another site may open. */
    readonly opensFromLinks?: boolean;
    /** The scope that the key needs; `read` by default. */
    readonly needsScope?: Scope;
    /** Where a key may come beside the header `AccessKey`, which goes first: shippers of others send theirs. By default nowhere. */
    readonly takesKeyIn?: readonly KeyPlace[];
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** Places of a key that clients of other products know. */
const KEY_PLACES = {
  authorization: ({ authorization }) => keyInAuthorization(authorization ?? ''),
  'x-amz-firehose-access-key': (headers) => String(headers['x-amz-firehose-access-key'] ?? ''),
} as const satisfies Readonly<Record<string, (headers: IncomingHttpHeaders) => string>>;

export type KeyPlace = keyof typeof KEY_PLACES;

/** The key in `Authorization`: that of `Bearer` and `Splunk`, and the password of `Basic`, whoever the user is. Empty in other schemes. */
function keyInAuthorization(header: string): string {
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S+) *$/.exec(header) ?? [];
  switch (scheme.toLowerCase()) {
    case 'bearer':
    case 'splunk':
      return credentials;
    case 'basic':
      return /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString())?.[1] ?? '';
    default:
      return '';
  }
}

/** The key that a request presents; empty where it presents none. */
function presentedKey({ headers }: FastifyRequest, takesKeyIn: readonly KeyPlace[]): string {
  const places = takesKeyIn.map((place) => KEY_PLACES[place](headers));
  return [String(headers['accesskey'] ?? ''), ...places].find((key) => key !== '') ?? '';
}

/** The caller with that key; null where it is no key of the program. */
function callerWith(keys: readonly AccessKey[], presented: string): Caller | null {
  const key = findAccessKey(keys, presented);
  if (key === undefined) return null;
  const { name, zones, scopes, mapping } = key;
  return {
    keyName: name,
    opensZone: (zoneId) => opensZone(key, zoneId),
    opensEveryZone: zones === 'all',
    zones,
    hasScope: (scope) => scopes.has(scope),
    mapping,
  };
}

function identify(keys: readonly AccessKey[], request: FastifyRequest, takesKeyIn: readonly KeyPlace[]): Caller {
  const headers = { 'www-authenticate': 'AccessKey' };
  const presented = presentedKey(request, takesKeyIn);
  if (presented === '') {
    const others = takesKeyIn.map((place) => `, and so is a key in ${place}`).join('');
    throw new RequestProblem('access.key_missing', `The AccessKey header is missing${others}`, { headers });
  }
  const caller = callerWith(keys, presented);
  if (caller === null) {
    const place = request.headers['accesskey'] ? 'AccessKey header' : 'request';
    throw new RequestProblem('access.key_unknown', `The ${place} holds no key of this program`, { headers });
  }
  return caller;
}

/**
 * Without keys the program trusts every caller on loopback, but not the web pages in a browser on this machine. A page whose name was made
 * to resolve to 127.0.0.1 (DNS rebinding) shows in `Host`, a page of another site in `Origin`. An image or a script has no `Origin`, and
 * shows in `Sec-Fetch-Site`, as a link does. A proxy in front may send on the name that browsers know, and sends on their `Origin`.
 */
function refuseForeignPages(request: FastifyRequest, outside: URL | null): void {
  const { host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers;
  const name = hostNameOf(host ?? '');
  if (name === null || !(isLoopbackHost(name) || name === outside?.hostname)) {
    throw new RequestProblem(
      'access.foreign_page',
      `Host: ${host ?? '(none)'} is not this machine; allowed without access keys: localhost, 127.0.0.1, [::1], ` +
        (outside?.hostname ?? 'the host of PUBLIC_URL, which is not set'),
    );
  }
  if (origin !== undefined && origin !== `http://${host}` && origin !== outside?.origin) {
    throw new RequestProblem(
      'access.foreign_page',
      `Origin: ${origin} is not the page's own server; allowed without access keys: http://${host}, ` +
        (outside?.origin ?? 'the origin of PUBLIC_URL, which is not set'),
    );
  }
  const isOpened = mode === 'navigate' && request.routeOptions.config.opensFromLinks === true;
  if (site === 'cross-site' && !isOpened) {
    throw new RequestProblem(
      'access.foreign_page',
      'Sec-Fetch-Site: cross-site is another site; allowed without access keys: none, same-origin, same-site, links to / and /docs',
    );
  }
}

/** The caller that the access hook has found. Throws where the route needs no key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error(`${request.method} ${request.routeOptions.url} asks for its caller but needs no key`);
  return request.caller;
}

/** Whose a request is among all callers, for the queue and the memory between them: its key, and without one its address. */
export function flowOf(request: FastifyRequest): string {
  return request.caller?.keyName ?? request.ip;
}

/** Throws RequestProblem `access.zone_denied` where the caller's key does not open the zone. */
export function requireZone(caller: Pick<Caller, 'opensZone'>, zoneId: number): void {
  if (!caller.opensZone(zoneId)) throw new RequestProblem('access.zone_denied', `The access key does not open shield zone ${zoneId}`);
}

/**
 * The mapping of what a caller sends in: that of its key, or else the one that the request names, if any. Throws RequestProblem
 * `request.invalid` where the request names another one than the key.
 */
export function mappingFor({ mapping }: Pick<Caller, 'mapping'>, named: string | undefined): string | undefined {
  if (mapping === null || named === undefined || named === mapping) return mapping ?? named;
  throw invalidRequest([
    { field: 'mapping', message: `must be ${mapping}, which the access key names, or be left out, not ${JSON.stringify(named)}` },
  ]);
}

/** Throws RequestProblem `access.zone_denied` where the caller's key opens some zones only. */
export function requireEveryZone(caller: Pick<Caller, 'opensEveryZone'>): void {
  if (caller.opensEveryZone) return;
  throw new RequestProblem('access.zone_denied', 'The access key does not open every shield zone; allowed: a key of the zones *');
}

/** Throws RequestProblem `access.scope_denied` where the caller's key lacks the scope. */
export function requireScope(caller: Pick<Caller, 'hasScope'>, scope: Scope): void {
  if (!caller.hasScope(scope)) throw new RequestProblem('access.scope_denied', `The access key does not have the scope "${scope}"`);
}

function isOpen({ needsKey }: FastifyContextConfig): boolean {
  return needsKey === 'never' || needsKey === 'never-by-any-name' || needsKey === 'optional';
}

export interface AccessOptions {
  readonly keys: readonly AccessKey[];
  /** Where browsers find the page if a proxy is in front. */
  readonly publicUrl: string | null;
}

/** Checks the `AccessKey` header before anything else of a request. Register before any route. */
export const access = fastifyPlugin(async (app: FastifyInstance, { keys, publicUrl }: AccessOptions) => {
  const outside = publicUrl === null ? null : new URL(publicUrl);
  const served: { readonly pattern: RegExp; readonly config: FastifyContextConfig }[] = [];
  app.addHook('onRoute', ({ url, config = {} }) => void served.push({ pattern: routePattern(url), config }));
  /** What is said of keys at the path of a method that it lacks, which is answered with 405 to everyone where one of its others is open. */
  const configAt = (path: string): FastifyContextConfig => {
    const here = served.filter(({ pattern }) => pattern.test(path)).map(({ config }) => config);
    return here.find(isOpen) ?? here[0] ?? {};
  };
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request) => {
    const config = request.is404 ? configAt(requestPath(request)) : request.routeOptions.config;
    const { needsKey, needsScope = 'read', takesKeyIn = [] } = config;
    if (needsKey === 'never-by-any-name' && !request.is404) return;
    if (keys.length === 0) {
      refuseForeignPages(request, outside);
      request.caller = ANYBODY;
      return;
    }
    if (needsKey === 'optional') request.caller = callerWith(keys, presentedKey(request, takesKeyIn));
    if (isOpen(config)) return;
    request.caller = identify(keys, request, takesKeyIn);
    if (!request.is404) requireScope(request.caller, needsScope);
  });
});
