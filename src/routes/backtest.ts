import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AlertRule } from '../../alerts/rule.ts';
import { readRule } from '../../alerts/rule-file.ts';
import { WrongYaml } from '../../ingest/mapping/yaml-tree.ts';
import { Semaphore } from '../../work/semaphore.ts';
import { type BacktestLine, backtest, RULE_BYTES, RULE_TYPES } from '../alerts/backtest.ts';
import { callerOf, flowOf, requireEveryZone, requireZone } from '../auth/access.ts';
import { beginAnswer } from '../http/begin-answer.ts';
import { negotiateAnswer, requireContentType, requirePlainBody } from '../http/content-negotiation.ts';
import { asReadProblem, invalidRequest, RequestProblem } from '../http/problem.ts';
import { takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { readQuery, wholeNumberParameter } from '../http/request-parameters.ts';
import type { RouteServices } from './route-services.ts';

const NDJSON = 'application/x-ndjson';

async function validateHeaders({ headers, query }: FastifyRequest): Promise<void> {
  negotiateAnswer(headers.accept, [NDJSON]);
  requireContentType(headers['content-type'], (type) => RULE_TYPES.some((one) => one === type), RULE_TYPES.join(', '));
  requirePlainBody(headers['content-encoding']);
  fromIn(query);
}

function fromIn(query: unknown): number | undefined {
  return readQuery<{ from: number }>(query, { from: wholeNumberParameter(0, Number.MAX_SAFE_INTEGER) }).from;
}

/** The rule of a body. Throws RequestProblem `request.invalid` where it is wrong, and `access.zone_denied`. */
function ruleIn(request: FastifyRequest): AlertRule {
  const rule = readableRule(Buffer.from(wholeBody(request)).toString('utf8'));
  if (rule.kind.kind === 'silence') {
    throw invalidRequest([{ field: 'kind', message: 'must be another one than silence, of which the clock decides: it has no backtest' }]);
  }
  const caller = callerOf(request);
  if (rule.zones === 'all') requireEveryZone(caller);
  else for (const zone of rule.zones) requireZone(caller, zone);
  return rule;
}

function readableRule(text: string): AlertRule {
  try {
    return readRule(text);
  } catch (error) {
    if (!(error instanceof WrongYaml)) throw error;
    throw invalidRequest(
      error.faults.map((message) => ({ field: 'rule', message })),
      error,
    );
  }
}

function* linesOf(piece: Iterable<BacktestLine | null>): Generator<string> {
  for (const line of piece) yield line === null ? '' : `${JSON.stringify(line)}\n`;
}

async function* answerOf(pieces: AsyncIterable<Iterable<BacktestLine | null>>): AsyncGenerator<Iterable<string>> {
  try {
    for await (const piece of pieces) yield linesOf(piece);
  } catch (error) {
    throw asReadProblem(error, 'The backtest was interrupted before its first byte', 'ask for less');
  }
}

/**
 * `POST /alerts/test` says which alerts a rule would have made of the stored events; NDJSON, as it goes on. One runs at a time, because
 * each may read the whole store.
 */
export async function backtestRoutes(app: FastifyInstance, options: RouteServices): Promise<void> {
  const { store, reads, turns, bodies, now, retentionMs, exportIdleMs: idleMs } = options;
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort(new Error('the program is stopping')));
  const backtests = new Semaphore(1);

  takeWholeBodies(app, bodies);

  app.post('/alerts/test', { bodyLimit: RULE_BYTES, onRequest: validateHeaders }, async (request, reply) => {
    const rule = ruleIn(request);
    const toMs = now();
    const fromMs = Math.max(fromIn(request.query) ?? 0, toMs - retentionMs);
    const turn = backtests.tryTake();
    if (turn === null) throw new RequestProblem('backtest.refused', 'another backtest is under way; begin this one when it has ended');
    const read = (hungUp: AbortSignal) => {
      const signal = AbortSignal.any([hungUp, stopping.signal]);
      const events = { reads: reads.of(flowOf(request)), positions: store.positions, retentionMs, fromMs, toMs };
      return answerOf(backtest({ rule, ...events, signal }));
    };
    const answer = await beginAnswer({ turns, reply, what: 'a backtest', read, idleMs, onEnd: turn[Symbol.dispose] });
    return reply.type(NDJSON).header('cache-control', 'no-store').send(answer);
  });
}
