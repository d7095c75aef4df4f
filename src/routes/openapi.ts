import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestProblem } from '../http/problem.ts';
import { servedDocument } from '../openapi/openapi-document.ts';

const PREFIX = '/docs';

/** The files of the page that it asks for. */
const PAGE_FILES: ReadonlySet<string> = new Set([
  'swagger-ui.css',
  'index.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
]);

/** Only scripts from here run, and they may only talk to this server. The page's icons are images inside its style sheet. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action " +
  "'none'; frame-ancestors 'none'";

const HEADERS = { 'referrer-policy': 'no-referrer' };

/** The page's own file server would answer in another error shape. */
async function requirePageFile({ params }: FastifyRequest): Promise<void> {
  const file = (params as { readonly '*'?: string })['*'];
  if (file === undefined || PAGE_FILES.has(file)) return;
  throw new RequestProblem('route.not_found', `There is nothing at ${PREFIX}/static/${file}; there are ${[...PAGE_FILES].join(', ')}`);
}

interface DocsRoutesOptions {
  /** Makes the OpenAPI document for the present time. */
  readonly currentDocument: () => Record<string, unknown>;
}

/** The interface's description as a page that can try it: Swagger UI, served from here. */
async function docsRoutes(app: FastifyInstance, { currentDocument }: DocsRoutesOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, needsKey: 'never', opensFromLinks: route.url === PREFIX || route.url === `${PREFIX}/` };
  });
  app.addHook('onRequest', requirePageFile);
  app.addHook('onSend', async (_request, reply) => void reply.headers(HEADERS));
  // The document is the only source. Nothing is made from the routes.
  const document = currentDocument() as unknown as StaticDocumentSpec['document'];
  await app.register(swagger, { mode: 'static', specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: PREFIX,
    staticCSP: POLICY,
    transformSpecification: currentDocument,
    transformSpecificationClone: false,
    theme: { title: 'shieldlog: the HTTP interface' },
    // The bar at the top is left out: it would load a description from any address.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0, displayRequestDuration: true },
  });
}

interface OpenapiRoutesOptions {
  /** Unix ms UTC. */
  readonly now: () => number;
  /** Whether access keys are configured. */
  readonly hasKeys: boolean;
}

/** `/openapi.json`, for programs, and the page at `/docs` that shows it to people. */
export async function openapiRoutes(app: FastifyInstance, { now, hasKeys }: OpenapiRoutesOptions): Promise<void> {
  const describe = servedDocument(hasKeys);
  const currentDocument = () => describe(now());
  app.get('/openapi.json', { config: { needsKey: 'never' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(currentDocument())),
  );
  await app.register(docsRoutes, { currentDocument });
}
