import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';

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

/** Only what comes from here runs, and it may talk to nobody else. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** The explorer page at `/`: plain files, read once at the start. */
export async function pageRoutes(app: FastifyInstance): Promise<void> {
  for (const [path, file, type] of FILES) {
    const content = await readFile(join(FOLDER, file));
    app.get(path, { config: { needsKey: 'never' } }, async (_request, reply) => reply.headers(HEADERS).type(type).send(content));
  }
}
