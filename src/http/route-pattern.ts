import type { FastifyRequest } from 'fastify';

/** Makes a pattern that matches the paths of a route, which may have parameters such as `:id`. */
export function routePattern(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${parts.join('/')}$`);
}

/** The path of a request, without its query. */
export function requestPath({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url;
}
