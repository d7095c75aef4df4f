import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withCurrentTimes } from '../../src/openapi-current-times.ts';
import { OPENAPI_DOCUMENT } from '../../src/openapi-document.ts';
import { isDescribed } from './described.ts';
import { ask, type RunningApp, search, startApp } from './running-app.ts';

const KEY = 'key-of-every-zone-1';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*` } });
});

afterAll(() => app.stop());

async function assets(): Promise<readonly string[]> {
  const { text } = await ask(app, '/docs');
  return [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, path = '']) => path);
}

/** The window of the search's first example. */
function windowOf(document: typeof OPENAPI_DOCUMENT): { readonly from: number; readonly to: number } {
  const { content } = document.paths['/shield/event-logs/{shieldZoneId}/search'].post.requestBody;
  const [example] = Object.values(content['application/json']?.examples ?? {});
  return example?.value as { from: number; to: number };
}

interface PageConfig {
  readonly url: string;
  readonly validatorUrl: unknown;
  readonly layout: string;
  readonly queryConfigEnabled?: boolean;
}

/** What the page's own script starts Swagger UI with. */
async function pageConfig(): Promise<PageConfig> {
  const { text } = await ask(app, '/docs/static/swagger-initializer.js');
  const window: { onload?: () => void; readonly location: object } = { location: { href: `${app.url}/docs#/Database` } };
  let config: PageConfig | undefined;
  const SwaggerUIBundle = Object.assign(
    (given: PageConfig) => {
      config = given;
      return { initOAuth: () => {} };
    },
    { presets: {}, plugins: {} },
  );
  runInNewContext(text, { window, document: { createElement: () => ({}) }, SwaggerUIBundle, SwaggerUIStandalonePreset: {} });
  window.onload?.();
  if (config === undefined) throw new Error('the script starts nothing');
  return config;
}

describe('/docs', () => {
  test.each(['/docs', '/docs/', '/docs/json', '/docs/static/swagger-ui.css', '/docs/static/swagger-initializer.js'])(
    '%s is served to everyone, under a policy that lets nothing in or out but what is served here',
    async (path) => {
      const { status, headers } = await ask(app, path);
      expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
      const policy = (headers.get('content-security-policy') ?? '').split('; ').map((rule) => rule.split(' '));
      expect(policy).toContainEqual(['default-src', "'none'"]);
      expect(policy).toContainEqual(['connect-src', "'self'"]);
      for (const [name = '', ...sources] of policy) {
        const own = ["'self'", "'none'", ...(name === 'img-src' ? ['data:'] : [])];
        expect([name, sources.filter((source) => !own.includes(source))]).toEqual([name, []]);
      }
    },
  );

  test('has nothing that its policy forbids, and every file that it asks for is here', async () => {
    const { text } = await ask(app, '/docs');
    expect(text).not.toMatch(/\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)/);
    const paths = await assets();
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths) expect([path, path.startsWith('/docs/static/'), (await ask(app, path)).status]).toEqual([path, true, 200]);
  });

  test('takes no style, font or image from elsewhere', async () => {
    for (const path of (await assets()).filter((name) => name.endsWith('.css'))) {
      const { text } = await ask(app, path);
      expect(text).not.toContain('@import');
      for (const [, target = ''] of text.matchAll(/url\(["']?([^)"']*)/g)) expect(target).toMatch(/^data:/);
    }
  });

  test('shows this description, asks no validator elsewhere, and offers no other description', async () => {
    const { url, validatorUrl, layout, queryConfigEnabled = false } = await pageConfig();
    expect({ url, validatorUrl, layout, queryConfigEnabled }).toEqual({
      url: `${app.url}/docs/./json`,
      validatorUrl: null,
      layout: 'BaseLayout',
      queryConfigEnabled: false,
    });
  });

  test('shows what /openapi.json says, the examples moved to the past hour so that they can be tried', async () => {
    const { body } = await ask(app, '/docs/json');
    const { from, to } = windowOf(body);
    expect([Date.now() - to < 60_000, to - from]).toEqual([true, 3_600_000]);
    expect(body).toEqual(withCurrentTimes((await ask(app, '/openapi.json')).body, to));
    const answer = await search(app, JSON.stringify({ from, to }), { accesskey: KEY });
    expect(answer.status).toBe(200);
  });

  test.each(['swagger-ui.js', 'oauth2-redirect.html', 'nothing.js', '', '..%2f..%2fpackage.json'])(
    'serves no file but its own: %j is refused like any other path',
    async (file) => {
      const { status, body } = await ask(app, `/docs/static/${file}`);
      expect([status, isDescribed('ProblemDetails', body), body.errorKey]).toEqual([404, true, 'route.not_found']);
    },
  );

  test('can send the keys of its operations: they are described as headers', () => {
    expect(OPENAPI_DOCUMENT.components.securitySchemes).toMatchObject({
      AccessKey: { type: 'apiKey', in: 'header', name: 'AccessKey' },
      PersonalAccessKey: { type: 'apiKey', in: 'header', name: 'AccessKey' },
      DatabaseToken: { type: 'http', scheme: 'bearer' },
    });
  });
});
