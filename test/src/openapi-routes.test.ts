import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentedPath } from '../../src/openapi-operation-path.ts';
import { DESCRIBED_OPERATIONS } from './openapi/document-check.ts';
import { type Site, startSite } from './openapi/site.ts';

/** What the pages are made of, which is no interface. */
const PAGES = /^\/(explorer\.(js|css)|docs(\/.*)?)?$/;

const routes = new Map<FastifyInstance, string[]>();
let site: Site;

/** Fastify tells of every instance as it is made, before anything is registered with it. */
function watch(message: unknown): void {
  const { fastify } = message as { readonly fastify: FastifyInstance };
  const served: string[] = [];
  routes.set(fastify, served);
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) if (!PAGES.test(url)) served.push(`${name} ${documentedPath(url)}`);
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
