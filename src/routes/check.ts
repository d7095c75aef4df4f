import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CheckLine } from '../../store/event-store.ts';
import { callerOf, requireEveryZone } from '../auth/access.ts';
import { type AnswerOutcome, beginAnswer } from '../http/begin-answer.ts';
import { negotiateAnswer } from '../http/content-negotiation.ts';
import { RequestProblem } from '../http/problem.ts';
import type { RouteServices } from './route-services.ts';

const NDJSON = 'application/x-ndjson';

/** Refuses what the headers alone make wrong. A key has to open every zone, because a file may hold the events of any. */
async function validateCall(request: FastifyRequest): Promise<void> {
  requireEveryZone(callerOf(request));
  negotiateAnswer(request.headers.accept, [NDJSON]);
}

/** The lines of a check, until the program stops: an answer without a summary is not whole. */
async function* linesOf(lines: AsyncIterable<CheckLine>, stopping: AbortSignal): AsyncGenerator<readonly [string]> {
  for await (const line of lines) {
    stopping.throwIfAborted();
    yield [`${JSON.stringify(line)}\n`];
  }
}

/**
 * `GET /check` reads all files of the store and compares them with their checksums; NDJSON, as it goes on. One check runs at a time,
 * because each reads the whole store.
 */
export async function checkRoutes(app: FastifyInstance, { store, turns }: Pick<RouteServices, 'store' | 'turns'>): Promise<void> {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort(new Error('the program is stopping')));
  let isUnderWay = false;
  // A HEAD would read all files for nothing.
  app.get('/check', { config: { needsScope: 'admin' }, onRequest: validateCall, exposeHeadRoute: false }, async (request, reply) => {
    if (isUnderWay) throw new RequestProblem('check.refused', 'another check is under way; begin this one when it has ended');
    isUnderWay = true;
    const onEnd = (outcome: AnswerOutcome, reason: unknown): void => {
      isUnderWay = false;
      if (outcome === 'failed' && reply.raw.headersSent) request.log.error({ err: reason }, 'a check broke off');
      if (outcome === 'idle') request.log.warn({ err: reason }, 'a check that nobody read on was cut off');
    };
    const read = () => linesOf(store.check(), stopping.signal);
    const answer = await beginAnswer({ turns, response: reply.raw, read, onEnd });
    return reply.type(NDJSON).header('cache-control', 'no-store').send(answer);
  });
}
