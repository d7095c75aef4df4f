/** A request that each operation takes. */
export interface ExampleRequest {
  readonly id: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
}

const HOSTNAME = { Hostname: 'www.example.com' };

export const EXAMPLE_REQUESTS: readonly ExampleRequest[] = [
  { id: 2, method: 'PUT', path: '/compute/script/1/variables', body: { Name: 'LEVEL', Required: true, DefaultValue: 'high' } },
  { id: 3, method: 'PATCH', path: '/shield/shield-zone/7/api-guardian/spec', body: { content: 'openapi: 3.0.3' } },
  { id: 4, method: 'POST', path: '/dnszone', body: { Domain: 'example.com', Records: [] } },
  { id: 5, method: 'PUT', path: '/shield/shield-zone/7/bot-categorization/bots/1', body: { action: 1 } },
  { id: 6, method: 'POST', path: '/pullzone/requestExternalHttpCertificate', body: HOSTNAME },
  { id: 7, method: 'POST', path: '/pullzone/completeExternalHttpCertificate', body: HOSTNAME },
  { id: 8, method: 'DELETE', path: '/pullzone/1/removeHostname', body: HOSTNAME },
  { id: 9, method: 'GET', path: '/mc/apps/shieldlog/statistics?granularity=Minute' },
  { id: 10, method: 'GET', path: '/mc/apps/shieldlog/overview' },
  { id: 11, method: 'GET', path: '/mc/nodes?limit=2' },
  { id: 12, method: 'GET', path: '/shield/shield-zone/7/access-lists/1' },
  { id: 13, method: 'GET', path: '/shield/metrics/shield-zone/7/api-guardian' },
  { id: 14, method: 'POST', path: '/v2/pipeline', body: { requests: [{ type: 'execute', stmt: { sql: 'SELECT 1' } }] } },
];

export function exampleOf(id: number): ExampleRequest {
  const found = EXAMPLE_REQUESTS.find((example) => example.id === id);
  if (found === undefined) throw new Error(`no example of operation ${id}`);
  return found;
}

export async function send(
  url: string,
  { method, path, body }: ExampleRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  return fetch(`${url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    redirect: 'manual',
    ...sent,
  });
}
