import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { RequestProblem } from '../http/problem.ts';
import { type ServedAs, servedDocument } from '../openapi/openapi-document.ts';

const PREFIX = '/docs';

/** The files of the page that it asks for, with their types. */
const PAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png',
};

/** Only scripts from here run, and they may only talk to this server. The page's icons are images inside its style sheet. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action " +
  "'none'; frame-ancestors 'none'";

const HEADERS = { 'referrer-policy': 'no-referrer' };

/** Reads the files of the page, each into one Buffer that all readers share. */
async function readPageFiles(): Promise<ReadonlyMap<string, Buffer>> {
  const description = findPackageJSON('@fastify/swagger-ui', import.meta.filename);
  if (description === undefined) throw new Error('The package @fastify/swagger-ui is not installed');
  const folder = join(dirname(description), 'static');
  return new Map(await Promise.all(Object.keys(PAGE_FILES).map(async (name) => [name, await readFile(join(folder, name))] as const)));
}

const HOUR_MS = 3_600_000;

/** The OpenAPI document, and what it is sent as: one Buffer for all who read it within an hour, however slowly they do. */
class Description {
  readonly document: Record<string, unknown>;
  readonly json: Buffer;
  #yaml: Buffer | undefined;

  constructor(document: Record<string, unknown>) {
    this.document = document;
    this.json = Buffer.from(JSON.stringify(document));
  }

  get yaml(): Buffer {
    this.#yaml ??= Buffer.from(stringify(this.document));
    return this.#yaml;
  }
}

function hourlyDescription(describe: (nowMs: number) => Record<string, unknown>, now: () => number): () => Description {
  let madeForMs: number | undefined;
  let made: Description | undefined;
  return () => {
    const hourMs = Math.floor(now() / HOUR_MS) * HOUR_MS;
    if (made === undefined || madeForMs !== hourMs) made = new Description(describe(hourMs));
    madeForMs = hourMs;
    return made;
  };
}

interface DocsRoutesOptions {
  readonly described: () => Description;
}

/** The interface's description as a page that can try it: Swagger UI, served from here. */
async function docsRoutes(app: FastifyInstance, { described }: DocsRoutesOptions): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, needsKey: 'never', opensFromLinks: route.url === PREFIX || route.url === `${PREFIX}/` };
  });
  const files = await readPageFiles();
  // The page's own file server would answer in another error shape, and read a file anew for each reader, as its YAML is written anew.
  app.addHook('onRequest', async ({ params, routeOptions }, reply) => {
    if (routeOptions.url === `${PREFIX}/yaml`) return reply.type('application/x-yaml; charset=utf-8').send(described().yaml);
    const { '*': name } = params as { readonly '*'?: string };
    if (name === undefined) return;
    const file = files.get(name);
    if (file !== undefined)
      return reply
        .type(PAGE_FILES[name] ?? '')
        .header('cache-control', 'public, max-age=3600')
        .send(file);
    throw new RequestProblem('route.not_found', `There is nothing at ${PREFIX}/static/${name}; there are ${[...files.keys()].join(', ')}`);
  });
  app.addHook('onSend', async (_request, reply) => void reply.headers(HEADERS));
  // The document is the only source. Nothing is made from the routes.
  const document = described().document as unknown as StaticDocumentSpec['document'];
  await app.register(swagger, { mode: 'static', specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: PREFIX,
    // A proxy may serve the page below a path of its own, to which its addresses are relative then.
    indexPrefix: '.',
    staticCSP: POLICY,
    transformSpecification: (_document, _request, reply) => {
      reply.type('application/json; charset=utf-8');
      return described().json as unknown as Record<string, unknown>;
    },
    transformSpecificationClone: false,
    theme: { title: 'shieldlog: the HTTP interface' },
    // The bar at the top is left out: it would load a description from any address.
    uiConfig: { layout: 'BaseLayout', deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0, displayRequestDuration: true },
  });
}

interface OpenapiRoutesOptions extends ServedAs {
  /** Unix ms UTC. */
  readonly now: () => number;
}

/** `/openapi.json`, for programs, and the page at `/docs` that shows it to people. */
export async function openapiRoutes(app: FastifyInstance, { now, ...as }: OpenapiRoutesOptions): Promise<void> {
  const described = hourlyDescription(servedDocument(as), now);
  app.get('/openapi.json', { config: { needsKey: 'never' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(described().json),
  );
  await app.register(docsRoutes, { described });
}
