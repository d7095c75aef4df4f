import { randomBytes, timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import { EdgeError } from '../edge-error.ts';
import { failureFacts, operationInput, REQUEST_ID_HEADER, requestPath } from '../operation-input.ts';
import { COMPANIONS, OPERATIONS } from '../operations/operations.ts';
import { accessLists } from './access-lists.ts';
import { apiGuardian } from './api-guardian/api-guardian.ts';
import { apiGuardianMetrics } from './api-guardian/guardian-metrics.ts';
import { botCategorization } from './bot-categorization.ts';
import { externalCertificates } from './certificates/external-certificates.ts';
import type { ChallengeResolver } from './certificates/http-challenge.ts';
import { applications } from './containers/applications.ts';
import { nodes } from './containers/nodes.ts';
import { damagedState, migrate, openState } from './control-plane-state.ts';
import { databaseResource } from './database/database-resource.ts';
import { dnsZones } from './dns/dns-zones.ts';
import type { LocalContext, LocalResource } from './local-resource.ts';
import { pullZones } from './pull-zones.ts';
import { scriptVariables } from './script-variables.ts';

interface LocalResourcesOptions {
  /** Null: the control plane fetches challenges from itself. */
  readonly challengeResolver: ChallengeResolver | null;
}

/** Every resource of the local control plane, in the order in which their tables are made. */
export function localResources({ challengeResolver }: LocalResourcesOptions): readonly LocalResource[] {
  return [
    scriptVariables,
    apiGuardian,
    dnsZones,
    pullZones,
    externalCertificates(challengeResolver),
    botCategorization,
    accessLists,
    apiGuardianMetrics,
    applications,
    nodes,
    databaseResource,
  ];
}

export interface ControlPlaneOptions extends Omit<LocalContext, 'db'> {
  readonly resources: readonly LocalResource[];
}

/** The local control plane, listening on a free port of 127.0.0.1. */
export interface ControlPlane {
  /** The address, for example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Sent with every request. Without it nothing is answered, so that only the proxies of this process get through. */
  readonly headers: Readonly<Record<string, string>>;
  /** Finishes the requests under way, closes idle connections, and closes the state. */
  stop(): Promise<void>;
}

const BODY_WORKER = new URL('./local-body-worker.ts', import.meta.url);
const SECRET_HEADER = 'x-control-plane-secret';

function admit(secret: Buffer): (given: unknown) => void {
  return (given) => {
    const presented = Buffer.from(typeof given === 'string' ? given : '');
    if (presented.length === secret.length && timingSafeEqual(presented, secret)) return;
    throw new EdgeError(403, 'access.denied', 'The local control plane answers to its own facade only');
  };
}

async function listen(app: FastifyInstance, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { dataDir, resources, logger } = options;
  const secret = randomBytes(32).toString('hex');
  const db = openState(dataDir);
  try {
    const context: LocalContext = { ...options, db };
    const requireSecret = admit(Buffer.from(secret));
    app.addHook('onRequest', async ({ headers }) => requireSecret(headers[SECRET_HEADER]));
    // This runs after the last answer, and after the resources have closed their own.
    app.addHook('onClose', async () => db.close());
    await app.register(operationInput, {
      operations: [...OPERATIONS, ...COMPANIONS],
      bodyWorker: BODY_WORKER,
      translateError: damagedState,
      logFault: (err, request, status) => {
        const facts = { reqId: request.id, ...failureFacts(err, request) };
        const damaged = damagedState(err);
        if (status === 500 || damaged !== null) logger.error(facts, damaged?.message ?? 'the local control plane failed');
        else logger.warn(facts, 'the local control plane refused a request');
      },
    });
    app.setNotFoundHandler((request) => {
      throw new EdgeError(404, 'route.not_found', `There is nothing at ${request.method} ${requestPath(request)}`);
    });
    for (const resource of resources) {
      migrate(db, resource, () => resource.seed?.(context));
      resource.routes(app, context);
    }
    const url = await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
    logger.info({ resources: resources.map(({ name }) => name) }, 'the local control plane is ready');
    return { url, headers: { [SECRET_HEADER]: secret }, stop: () => app.close() };
  } catch (error) {
    if (db.isOpen) db.close();
    throw error;
  }
}

/** Opens the state in `dataDir`, brings it to the newest version and serves the resources. Rejects where that is not possible. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const app: FastifyInstance = fastify({
    forceCloseConnections: 'idle',
    // The proxies tell the id of the request that a caller may know, so that both name it in the log.
    requestIdHeader: REQUEST_ID_HEADER,
    // Each route refuses parameters that are too long for it, as in the proxies.
    routerOptions: { maxParamLength: 16 * 1024 },
  });
  return listen(app, options);
}
