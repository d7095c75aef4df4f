import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { DIMENSIONS } from '../../query/event-fields.ts';
import { RequestProblem } from '../http/problem.ts';
import { readPage, type ServedPage } from '../page/served-page.ts';

const FOLDER = join(import.meta.dirname, '../../web');

const FILES = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/explorer.js', 'explorer.js', 'text/javascript; charset=utf-8'],
  ['/exact-json.js', 'exact-json.js', 'text/javascript; charset=utf-8'],
  ['/table-lines.js', 'table-lines.js', 'text/javascript; charset=utf-8'],
  ['/view.js', 'view.js', 'text/javascript; charset=utf-8'],
  ['/live.js', 'live.js', 'text/javascript; charset=utf-8'],
  ['/live-stream.js', 'live-stream.js', 'text/javascript; charset=utf-8'],
  ['/explorer.css', 'explorer.css', 'text/css; charset=utf-8'],
] as const;

/** Only scripts from here run, and they may only talk to this server. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " +
    "'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

const OPTIONS_MARK = '<!-- an option for each dimension -->';

/** The dimension that the page groups by at first. */
export const SELECTED = 'ip';

const OPTIONS = DIMENSIONS.map((name) => `<option${name === SELECTED ? ' selected' : ''}>${name}</option>`).join('');

/** The explorer page at `/`: plain files, read once at the start. The list of dimensions in `index.html` is filled in. */
export async function pageRoutes(app: FastifyInstance): Promise<void> {
  for (const [path, file, type] of FILES) {
    const content = (await readFile(join(FOLDER, file), 'utf8')).replace(OPTIONS_MARK, OPTIONS);
    app.get(path, { config: { needsKey: 'never' } }, async (_request, reply) => reply.headers(HEADERS).type(type).send(content));
  }
  await app.register(explorerRoutes);
}

const PREFIX = '/page';

/** The new explorer page at `/next` and its files, read when somebody first asks for one. */
async function explorerRoutes(app: FastifyInstance): Promise<void> {
  let reading: Promise<ServedPage> | undefined;
  const page = (): Promise<ServedPage> => {
    reading ??= readPage(PREFIX).catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  const config = { needsKey: 'never' } as const;

  app.get('/next', { config }, async (_request, reply) => {
    const { html, policy } = await page();
    const headers = { 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' };
    return reply.headers(headers).type('text/html; charset=utf-8').send(html);
  });

  app.get(`${PREFIX}/*`, { config }, async (request, reply) => {
    const path = request.url.replace(/\?.*/, '');
    const file = (await page()).files.get(path);
    if (file === undefined) throw new RequestProblem('route.not_found', `There is nothing at ${path}; / names the files of the page`);
    return reply.header('cache-control', 'public, max-age=31536000, immutable').type(file.type).send(file.text);
  });
}
