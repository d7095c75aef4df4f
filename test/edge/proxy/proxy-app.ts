import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { pino } from 'pino';
import type { Operation } from '../../../edge/operations/operation.ts';
import { COMPANIONS, OPERATIONS } from '../../../edge/operations/operations.ts';
import { type ProxyOptions, proxy } from '../../../edge/proxy/proxy.ts';
import type { UpstreamTarget } from '../../../edge/proxy/upstream-request.ts';

/** The proxies alone, listening, in front of one upstream. */
export interface ProxyApp extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly url: string;
  readonly log: readonly string[];
}

export interface ProxyAppOptions extends Partial<Omit<ProxyOptions, 'operations' | 'upstreamOf'>> {
  readonly target: Partial<UpstreamTarget> & { readonly url: string };
  readonly deadlines?: Operation['deadlines'];
}

export async function startProxy({ target, deadlines, ...options }: ProxyAppOptions): Promise<ProxyApp> {
  const log: string[] = [];
  const logger: FastifyBaseLogger = pino({ base: null }, { write: (line: string) => log.push(line) });
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { maxParamLength: 16 * 1024 },
  });
  await app.register(proxy, {
    operations: [...OPERATIONS, ...COMPANIONS].map((row) => (deadlines === undefined ? row : { ...row, deadlines })),
    upstreamOf: () => ({ headers: {}, passes: [], ...target }),
    authorize: () => {},
    translateError: () => null,
    ...options,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
  return {
    app,
    url,
    log,
    [Symbol.asyncDispose]: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}
