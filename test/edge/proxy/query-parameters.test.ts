import { describe, expect, test } from 'vitest';
import { COMPANIONS } from '../../../edge/operations/operations.ts';
import { EXAMPLE_REQUESTS, type ExampleRequest, exampleOf, requestOf, send } from '../example-requests.ts';
import { recordingUpstream } from '../upstreams.ts';
import { startProxy } from './proxy-app.ts';

const REQUESTS: readonly ExampleRequest[] = [...EXAMPLE_REQUESTS, ...COMPANIONS.map(requestOf)];

/** The request with further parameters, in front of its own. */
function withQuery(request: ExampleRequest, more: string): ExampleRequest {
  const [path, query] = request.path.split('?', 2);
  return { ...request, path: `${path}?${more}${query === undefined ? '' : `&${query}`}` };
}

/** The status of the proxy's answer, and the address that the upstream was asked for. */
async function statusAndAsked(request: ExampleRequest): Promise<readonly [status: number, asked: string | undefined]> {
  await using upstream = await recordingUpstream((_request, response) => response.writeHead(200).end());
  await using proxy = await startProxy({ target: { url: upstream.url } });
  const { status } = await send(proxy.url, request);
  return [status, upstream.seen[0]?.url];
}

describe('a query parameter that the operation does not have is passed over, and not handed on', () => {
  const UNKNOWN = 'api-version=2026-01-01&_=1&page=&page=2&__proto__=1&constructor=x&tags[]=a&%00=%ff&Limit=0&bare&=';

  test.each(REQUESTS)('$method $path', async (request) => {
    expect(await statusAndAsked(withQuery(request, UNKNOWN))).toEqual([200, request.path]);
  });
});

describe('an optional query parameter that is empty counts as absent', () => {
  test.each([
    [11, '/mc/nodes?limit=', '/mc/nodes'],
    [11, '/mc/nodes?limit=&nextCursor=', '/mc/nodes'],
    [11, '/mc/nodes?limit&nextCursor=bm9kZToz', '/mc/nodes?nextCursor=bm9kZToz'],
    [9, '/mc/apps/a/statistics?granularity=Daily&fromDate=&toDate=', '/mc/apps/a/statistics?granularity=Daily'],
    [9, '/mc/apps/a/statistics?fromDate&granularity=Daily', '/mc/apps/a/statistics?granularity=Daily'],
  ])('operation %i: %s', async (number, path, asked) => {
    expect(await statusAndAsked({ ...exampleOf(number), path })).toEqual([200, asked]);
  });
});
