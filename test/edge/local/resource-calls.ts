import type { LocalResource } from '../../../edge/local/local-resource.ts';
import { type ExampleRequest, send } from '../example-requests.ts';
import { type ProxyApp, startProxy } from '../proxy/proxy-app.ts';
import { expectAnswer } from '../schema-check.ts';
import { type RunningPlane, startPlane } from './running-plane.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the operation's schema has been held against it
  readonly body: any;
}

/** A control plane behind the proxies, as callers meet it. */
export interface Facade extends AsyncDisposable {
  readonly plane: RunningPlane;
  readonly proxy: ProxyApp;
  /** The answer, held to the operation's schemas. */
  call(request: ExampleRequest, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

export async function startFacade(
  resources: readonly LocalResource[],
  options: Partial<Parameters<typeof startPlane>[0]> = {},
): Promise<Facade> {
  const plane = await startPlane({ ...options, resources });
  const proxy = await startProxy({ target: { ...plane.plane, passes: ['authorization'] } });
  return {
    plane,
    proxy,
    async call(request, headers) {
      const response = await send(proxy.url, request, headers);
      const text = await response.text();
      const body = text === '' ? '' : JSON.parse(text);
      expectAnswer(request.number, response.status, body);
      return { status: response.status, contentType: response.headers.get('content-type'), body };
    },
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await plane[Symbol.asyncDispose]();
    },
  };
}
