import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPENAPI_DOCUMENT } from '../../../src/openapi/openapi-document.ts';
import { ask, type RunningApp, startApp } from '../running-app.ts';
import { isDescribed } from './described.ts';

const KEY = 'key-of-every-zone-1';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp({ env: { ACCESS_KEYS: `all:${KEY}:*` } });
});

afterAll(() => app.stop());

async function assets(): Promise<readonly string[]> {
  const { text } = await ask(app, '/docs');
  return [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, path = '']) => new URL(path, `${app.url}/docs`).pathname);
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

  test('shows what /openapi.json says', async () => {
    const withoutTimes = (text: string): string => text.replaceAll(/\b17\d{11}\b|\b20\d\d-\d\d-\d\dT[\d:.]+Z/g, 'a time');
    expect(withoutTimes((await ask(app, '/docs/json')).text)).toBe(withoutTimes((await ask(app, '/openapi.json')).text));
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
