import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { documentedPath } from '../../../src/openapi/openapi-operations.ts';
import { type Site, startSite } from './site.ts';

/** Returns whether a path is of the pages, which are no interface and not described. */
export const isOfPage = (path: string): boolean => path === '/' || path === '/page/*' || /^\/docs(\/.*)?$/.test(path);

/** A route as the document would write it. */
export interface ServedRoute {
  readonly method: string;
  readonly path: string;
}

/** Starts a site, and returns with it every route that it serves, HEAD included. */
export async function startWithRoutes(
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly site: Site; readonly routes: readonly ServedRoute[] }> {
  const routes = new Map<FastifyInstance, ServedRoute[]>();
  // Fastify tells of every instance as it is made, before anything is registered with it.
  const watch = (message: unknown): void => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    const served: ServedRoute[] = [];
    routes.set(fastify, served);
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const name of [method].flat()) served.push({ method: name, path: documentedPath(url) });
    });
  };
  subscribe('fastify.initialization', watch);
  const site = await startSite(env);
  unsubscribe('fastify.initialization', watch);
  return { site, routes: routes.get(site.app) ?? [] };
}
