import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestProblem } from '../http/problem.ts';

const PREFIX = '/docs';

/** Of the files that come with the page, those that it asks for. */
const PAGE_FILES: ReadonlySet<string> = new Set([
  'swagger-ui.css',
  'index.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
]);

/** Only what comes from here runs, and it may talk to nobody else. The page's icons are images inside its style sheet. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS = { 'referrer-policy': 'no-referrer' };

/** The file server of the page would answer in a shape of its own. */
async function requirePageFile({ params }: FastifyRequest): Promise<void> {
  const file = (params as { readonly '*'?: string })['*'];
  if (file === undefined || PAGE_FILES.has(file)) return;
  throw new RequestProblem('route.not_found', `There is nothing at ${PREFIX}/static/${file}; there are ${[...PAGE_FILES].join(', ')}`);
}

export interface DocsRoutesOptions {
  /** Makes the OpenAPI document as it holds at the moment. */
  readonly currentDocument: () => Record<string, unknown>;
}

/** The interface's description as a page that can also try it: Swagger UI, all of it served from here. */
export async function docsRoutes(app: FastifyInstance, { currentDocument }: DocsRoutesOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, needsKey: 'never' };
  });
  app.addHook('onRequest', requirePageFile);
  app.addHook('onSend', async (_request, reply) => void reply.headers(HEADERS));
  // The document is the one source: nothing is made from the routes.
  const document = currentDocument() as unknown as StaticDocumentSpec['document'];
  await app.register(swagger, { mode: 'static', specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: PREFIX,
    staticCSP: POLICY,
    transformSpecification: currentDocument,
    transformSpecificationClone: false,
    theme: { title: 'shieldlog: the HTTP interface' },
    // Without the bar at the top, which would load the description of any other address.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0, displayRequestDuration: true },
  });
}
