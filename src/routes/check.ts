import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CheckLine, EventStore } from '../../store/event-store.ts';
import { callerOf, requireEveryZone } from '../auth/access.ts';
import { negotiateAnswer } from '../http/content-negotiation.ts';

export interface CheckRoutesOptions {
  readonly store: Pick<EventStore, 'check'>;
}

const NDJSON = 'application/x-ndjson';

/** Refuses what the headers alone make wrong. A key has to open every zone, because a file may hold the events of any. */
async function validateCall(request: FastifyRequest): Promise<void> {
  requireEveryZone(callerOf(request));
  negotiateAnswer(request.headers.accept, [NDJSON]);
}

/** The lines of a check, until the program stops: an answer without a summary is not whole. */
async function* linesOf(lines: AsyncGenerator<CheckLine>, first: IteratorResult<CheckLine>, stopping: AbortSignal): AsyncGenerator<string> {
  try {
    for (let next = first; next.done !== true; next = await lines.next()) {
      stopping.throwIfAborted();
      yield `${JSON.stringify(next.value)}\n`;
    }
  } finally {
    await lines.return(undefined);
  }
}

/** `GET /check` reads all files of the store and compares them with their checksums; NDJSON, as it goes on. */
export async function checkRoutes(app: FastifyInstance, { store }: CheckRoutesOptions): Promise<void> {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort(new Error('the program is stopping')));
  // A HEAD would read all files for nothing.
  app.get('/check', { config: { needsScope: 'admin' }, onRequest: validateCall, exposeHeadRoute: false }, async (_request, reply) => {
    const lines = store.check();
    const text = Readable.from(linesOf(lines, await lines.next(), stopping.signal));
    return reply.type(NDJSON).header('cache-control', 'no-store').send(text);
  });
}
