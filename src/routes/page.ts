import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';
import { elasticsearchType, GREETING, isElasticsearchClient, PRODUCT_HEADERS } from '../http/elasticsearch-answers.ts';
import { RequestProblem } from '../http/problem.ts';
import { PAGE_PREFIX, type PageReader } from '../page/served-page.ts';

/** The explorer page at `/` and its files. Clients of Elasticsearch, which ask there what it is, are greeted as by one. */
export async function pageRoutes(app: FastifyInstance, { page }: { readonly page: PageReader }): Promise<void> {
  const config = { needsKey: 'never' } as const;

  app.get('/', { config: { ...config, opensFromLinks: true } }, async ({ headers: { accept } }, reply) => {
    reply.header('vary', 'accept');
    if (isElasticsearchClient(accept)) return reply.headers(PRODUCT_HEADERS).type(elasticsearchType(accept)).send(GREETING);
    const { html, policy } = await page();
    const headers = { 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' };
    return reply.headers(headers).type('text/html; charset=utf-8').send(html);
  });

  app.get(`${PAGE_PREFIX}/*`, { config }, async (request, reply) => {
    const path = request.url.replace(/\?.*/, '');
    const file = (await page()).files.get(path);
    if (file === undefined) throw new RequestProblem('route.not_found', `There is nothing at ${path}; / names the files of the page`);
    reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' }).type(file.type);
    const takesGzip = new Negotiator(request.raw).encoding(['gzip', 'identity']) === 'gzip';
    return takesGzip ? reply.header('content-encoding', 'gzip').send(file.gzip) : reply.send(file.bytes);
  });
}
