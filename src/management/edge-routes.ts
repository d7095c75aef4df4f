import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { COMPANION_ROUTES } from '../../edge/companion-routes.ts';
import { EdgeError } from '../../edge/edge-error.ts';
import type { ProxiedRoute } from '../../edge/operation.ts';
import { OPERATIONS } from '../../edge/operations.ts';
import { proxy } from '../../edge/proxy.ts';
import { authorizeOperation } from '../auth/edge-access.ts';
import type { AccessKey } from '../config/access-key.ts';
import { type LocalPlane, type UpstreamConfig, upstreamFor } from '../config/edge-upstreams.ts';
import { isHangUp } from '../http/hang-up.ts';
import { RequestProblem } from '../http/problem.ts';
import { wholeBodyWithin } from '../http/request-body.ts';

export interface EdgeRoutesOptions {
  readonly config: UpstreamConfig & { readonly accessKeys: readonly AccessKey[] };
  readonly local: LocalPlane;
  readonly bodyDeadlineMs: number;
}

/** nginx's status for clients that closed the connection; nobody reads it. */
const CLIENT_CLOSED = 499;

function translateError(error: unknown, request: FastifyRequest): EdgeError | null {
  if (isHangUp(error, request.raw))
    return new EdgeError(CLIENT_CLOSED, 'request.hung_up', 'The caller closed the connection', { cause: error });
  if (!(error instanceof RequestProblem)) return null;
  const { status, errorKey, message, errors, headers } = error;
  return new EdgeError(status, errorKey, message, { headers, cause: error, ...(errors === undefined ? {} : { errors }) });
}

/** The database's own tokens are not ours to know; some things are for everyone. */
function routeConfig({ key, method, anyHost = false }: ProxiedRoute): FastifyContextConfig {
  if (key === 'none' && anyHost) return { needsKey: 'never-by-any-name' };
  if (key === 'bearer' || key === 'none') return { needsKey: 'never' };
  return { needsScope: method === 'GET' ? 'read' : 'manage' };
}

/**
 * Operations 2 to 14, and what clients ask beside them: checked here, answered by the upstreams that are configured, or by the local
 * control plane.
 */
export async function edgeRoutes(app: FastifyInstance, { config, local, bodyDeadlineMs }: EdgeRoutesOptions): Promise<void> {
  const access = {
    keys: config.accessKeys,
    holdsDatabaseToken: config.serviceDatabaseAuthToken !== null,
    requireDatabaseToken: (config.serviceDatabaseUrl === null ? local.requireDatabaseToken : undefined) ?? null,
  };
  await app.register(proxy, {
    operations: [...OPERATIONS, ...COMPANION_ROUTES],
    upstreamOf: (operation) => upstreamFor(config, operation, local),
    authorize: (request, operation) => authorizeOperation(request, operation, access),
    translateError,
    readBody: wholeBodyWithin(bodyDeadlineMs),
    routeConfig,
  });
}
