import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { callerHungUp, EdgeError } from '../../edge/edge-error.ts';
import { damagedState } from '../../edge/local/control-plane-state.ts';
import type { Operation } from '../../edge/operations/operation.ts';
import { COMPANIONS, OPERATIONS } from '../../edge/operations/operations.ts';
import { proxy } from '../../edge/proxy/proxy.ts';
import { callerOf, requireScope, requireZone } from '../auth/access.ts';
import { type AccessKey, findAccessKey } from '../config/access-key.ts';
import { type LocalPlane, type UpstreamConfig, upstreamFor } from '../config/edge-config.ts';
import type { BodyMemory } from '../http/body-memory.ts';
import { isHangUp } from '../http/interruption.ts';
import { RequestProblem } from '../http/problem.ts';
import { wholeBodyIn } from '../http/request-body.ts';
import { parseZoneId } from '../http/request-parameters.ts';

interface EdgeAccess {
  readonly keys: readonly AccessKey[];
  /** Whether the program sends a database token of its own. Then callers need an access key. */
  readonly holdsDatabaseToken: boolean;
  /** Throws EdgeError 401 without a token of the local database. Null where an upstream database checks its tokens. */
  readonly requireDatabaseToken: ((authorization: string | undefined) => void) | null;
}

/** Libraries for the database send only a bearer token, which is then an access key with the scope `database`. */
function requireDatabaseKey(request: FastifyRequest, keys: readonly AccessKey[]): void {
  const unauthorized = { headers: { 'www-authenticate': 'Bearer' } };
  const presented = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (presented === undefined) {
    throw new RequestProblem('access.key_missing', 'Authorization: Bearer with an access key is missing', unauthorized);
  }
  const key = findAccessKey(keys, presented);
  if (key === undefined) throw new RequestProblem('access.key_unknown', 'The bearer token is no access key of this program', unauthorized);
  requireScope({ hasScope: (scope) => key.scopes.has(scope) }, 'database');
}

/** Throws RequestProblem where the caller may not use the operation. The `AccessKey` header has been checked before. */
function authorizeOperation(
  request: FastifyRequest,
  operation: Operation,
  { keys, holdsDatabaseToken, requireDatabaseToken }: EdgeAccess,
): void {
  switch (operation.key) {
    case 'access':
    case 'none':
      return;
    case 'personal':
      requireScope(callerOf(request), 'personal');
      return;
    case 'access-and-zone':
      requireZone(callerOf(request), parseZoneId((request.params as { shieldZoneId: string }).shieldZoneId));
      return;
    case 'bearer':
      // Callers without a token must not make the program read megabytes.
      requireDatabaseToken?.(request.headers.authorization);
      // Without keys only this machine reaches the program.
      if (holdsDatabaseToken && keys.length > 0) requireDatabaseKey(request, keys);
      return;
  }
}

interface EdgeRoutesOptions {
  readonly config: UpstreamConfig & { readonly accessKeys: readonly AccessKey[] };
  /** Throws EdgeError 503 where the control plane cannot answer. */
  readonly local: () => LocalPlane;
  readonly bodies: BodyMemory;
}

function translateError(error: unknown, request: FastifyRequest): EdgeError | null {
  if (isHangUp(error, request.raw)) return callerHungUp(error);
  if (!(error instanceof RequestProblem)) return damagedState(error);
  const { status, errorKey, message, errors, headers, cause } = error;
  return new EdgeError(status, errorKey, message, { headers, cause, ...(errors === undefined ? {} : { errors }) });
}

/** The access of a route: only the database knows its tokens, and some routes are open to everyone. */
function routeConfig({ key, method, anyHost }: Operation): FastifyContextConfig {
  if (key === 'none' && anyHost) return { needsKey: 'never-by-any-name' };
  if (key === 'bearer' || key === 'none') return { needsKey: 'never' };
  return { needsScope: method === 'GET' ? 'read' : 'manage' };
}

/** The operations beside the search: their input is checked here, and an upstream or the local control plane answers. */
export async function edgeRoutes(app: FastifyInstance, { config, local, bodies }: EdgeRoutesOptions): Promise<void> {
  const access = {
    keys: config.accessKeys,
    holdsDatabaseToken: config.serviceDatabaseAuthToken !== null,
    requireDatabaseToken:
      config.serviceDatabaseUrl === null ? (authorization: string | undefined) => local().requireDatabaseToken?.(authorization) : null,
  };
  await app.register(proxy, {
    operations: [...OPERATIONS, ...COMPANIONS],
    upstreamOf: (operation) => upstreamFor(config, operation, local),
    authorize: (request, operation) => authorizeOperation(request, operation, access),
    translateError,
    readBody: wholeBodyIn(bodies),
    routeConfig,
  });
}
