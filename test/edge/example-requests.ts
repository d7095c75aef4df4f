import type { Operation } from '../../edge/operations/operation.ts';
import { OPERATIONS } from '../../edge/operations/operations.ts';
import { fillPath, queryText } from '../../edge/proxy/upstream-request.ts';

/** A request that an operation takes. */
export interface ExampleRequest {
  readonly number: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
}

/** The request of the example of a row. */
export function requestOf({ number, method, path, example }: Operation): ExampleRequest {
  const query = queryText(example.query);
  return {
    number,
    method,
    path: `${fillPath(path, example.params)}${query === '' ? '' : `?${query}`}`,
    ...(example.body === null ? {} : { body: example.body }),
  };
}

/** The example of each row of the table. */
export const EXAMPLE_REQUESTS: readonly ExampleRequest[] = OPERATIONS.map(requestOf);

export function exampleOf(number: number): ExampleRequest {
  const found = EXAMPLE_REQUESTS.find((example) => example.number === number);
  if (found === undefined) throw new Error(`no example of operation ${number}`);
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
