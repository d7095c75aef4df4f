import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentedPath } from '../../../src/openapi/openapi-operations.ts';
import { DESCRIBED_OPERATIONS } from './document-check.ts';
import { type Site, startSite } from './site.ts';

/** Returns whether a URL is a file of the pages, which are no interface. */
const isOfPage = (url: string): boolean => url === '/' || url === '/page/*' || /^\/docs(\/.*)?$/.test(url);

const routes = new Map<FastifyInstance, string[]>();
let site: Site;

/** Fastify tells of every instance as it is made, before anything is registered with it. */
function watch(message: unknown): void {
  const { fastify } = message as { readonly fastify: FastifyInstance };
  const served: string[] = [];
  routes.set(fastify, served);
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) if (!isOfPage(url)) served.push(`${name} ${documentedPath(url)}`);
  });
}

beforeAll(async () => {
  subscribe('fastify.initialization', watch);
  site = await startSite();
  unsubscribe('fastify.initialization', watch);
});

afterAll(() => site.stop());

test('every route that is served is described, and every described one is served', () => {
  const served = routes.get(site.app) ?? [];
  // HEAD comes with GET.
  expect(served.filter((route) => !route.startsWith('HEAD ')).toSorted()).toEqual(
    DESCRIBED_OPERATIONS.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});
