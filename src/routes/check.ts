import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CheckLine } from '../../store/event-store.ts';
import { Semaphore } from '../../work/semaphore.ts';
import { callerOf, requireEveryZone } from '../auth/access.ts';
import { beginAnswer } from '../http/begin-answer.ts';
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
  const checks = new Semaphore(1);
  // A HEAD would read all files for nothing.
  app.get('/check', { config: { needsScope: 'admin' }, onRequest: validateCall, exposeHeadRoute: false }, async (_request, reply) => {
    const turn = checks.tryTake();
    if (turn === null) throw new RequestProblem('check.refused', 'another check is under way; begin this one when it has ended');
    const read = () => linesOf(store.check(), stopping.signal);
    const answer = await beginAnswer({ turns, reply, what: 'a check', read, onEnd: turn[Symbol.dispose] });
    return reply.type(NDJSON).header('cache-control', 'no-store').send(answer);
  });
}
