import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BULK_ACTIONS, STORING } from '../../../ingest/doors/bulk.ts';
import { requireContentType } from '../../http/content-negotiation.ts';
import { BULK_TYPES, elasticsearchType, PRODUCT_HEADERS } from '../../http/elasticsearch-answers.ts';
import type { ShapedProblem } from '../../http/error-answers.ts';
import type { RequestProblem } from '../../http/problem.ts';
import { type DoorOutcome, type DoorRoutesOptions, doorConfig, isHealthy, openDoor, RETRY_AFTER } from './door.ts';

/** What Elasticsearch calls errors, by the status of the answer. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'security_exception',
  403: 'security_exception',
  413: 'content_too_long_exception',
  415: 'media_type_header_exception',
  429: 'es_rejected_execution_exception',
};

/** A busy Elasticsearch says 429, and its clients wait and try again. */
const TOO_MANY = 429;

function errorBody(status: number, reason: string): string {
  const error = { type: ERROR_TYPES[status] ?? 'illegal_argument_exception', reason };
  return JSON.stringify({ error: { root_cause: [error], ...error }, status });
}

function bulkProblem({ status, headers, message }: RequestProblem, request: FastifyRequest): ShapedProblem {
  const isBusy = status === 503;
  const told = isBusy ? TOO_MANY : status;
  return {
    status: told,
    headers: { ...headers, ...(isBusy ? RETRY_AFTER : {}) },
    type: elasticsearchType(request.headers.accept),
    body: errorBody(told, message),
  };
}

const NOT_SUPPORTED = 'is not supported here: allowed are index and create';

/** Whether each document is told to be refused: all are letters, or one is kept nowhere of which the document cannot be told. */
function isAllRefused({ report, refusal, mayBeSeveral }: DoorOutcome): boolean {
  const { accepted, expired, leftOut = 0 } = report;
  return refusal !== null && (mayBeSeveral || accepted + expired + leftOut === 0);
}

/** The items of an answer as JSON, and whether one of them is an error. */
function answeredItems(index: string, outcome: DoorOutcome) {
  const { items: named, report, refusal, mayBeSeveral } = outcome;
  const { actions = [], indices = [], names = [] } = named ?? {};
  const rejections = mayBeSeveral ? [] : report.rejected;
  const reasons = new Map(rejections.map(({ index: record, reason, kept }) => [record, { reason, isLost: kept === false }]));
  const isRefused = isAllRefused(outcome);
  const items: string[] = [];
  // What is stored of an index by an action has one text: 50,000 items of their own would hold the main thread for 20 ms.
  const created: string[] = [];
  let [record, hasErrors] = [0, false];
  for (const [item, number] of actions.entries()) {
    const nth = indices[item] ?? 0;
    let error: { readonly type: string; readonly reason: string } | null = null;
    if (number >= STORING) {
      error = { type: 'illegal_argument_exception', reason: `${BULK_ACTIONS[number]} ${NOT_SUPPORTED}` };
    } else {
      const rejected = reasons.get(record);
      record += 1;
      if (isRefused || rejected?.isLost === true) {
        error = { type: 'document_parsing_exception', reason: rejected?.reason ?? refusal?.reason ?? '' };
      }
    }
    hasErrors ||= error !== null;
    const answered = (result: string) => `{"${BULK_ACTIONS[number]}":{"_index":${JSON.stringify(names[nth] || index)},${result}}}`;
    if (error === null) {
      const key = nth * BULK_ACTIONS.length + number;
      created[key] ??= answered('"status":201,"result":"created"');
      items.push(created[key]);
    } else {
      items.push(answered(`"status":400,"error":${JSON.stringify(error)}`));
    }
  }
  return { items, hasErrors };
}

/** `/_bulk` of Elasticsearch. An answer is one of success where all is on the disk; single letters are no errors. */
export async function elasticsearchRoutes(app: FastifyInstance, options: DoorRoutesOptions): Promise<void> {
  openDoor(app, options, 'elasticsearch', bulkProblem);
  const { intake } = options;
  app.addHook('onSend', async (_request, reply) => void reply.headers(PRODUCT_HEADERS));
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    requireContentType(request.headers['content-type'], (type) => BULK_TYPES.some((one) => one === type), BULK_TYPES.join(', '));
    intake.requireMapping(request);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const sinceMs = performance.now();
    const outcome = await intake.take(request, reply, 'bulk');
    const { index = '' } = request.params as { readonly index?: string };
    const { items, hasErrors } = answeredItems(index, outcome);
    const body = `{"took":${Math.round(performance.now() - sinceMs)},"errors":${hasErrors},"items":[${items.join(',')}]}`;
    intake.holdAnswer(request, reply, body.length);
    return reply.type(elasticsearchType(request.headers.accept)).send(body);
  };
  for (const url of ['/_bulk', '/:index/_bulk']) {
    app.route({ method: ['POST', 'PUT'], url, ...doorConfig('authorization'), onRequest, handler });
  }
  app.get('/_license', { config: { needsKey: 'never' } }, async (request, reply) =>
    reply
      .type(elasticsearchType(request.headers.accept))
      .send('{"license":{"status":"active","uid":"shieldlog","type":"basic","issued_to":"shieldlog","issuer":"shieldlog"}}'),
  );
  // rsyslog goes on after an error only once this is a success.
  app.get('/_cat/health', { config: { needsKey: 'never' } }, async (request, reply) => {
    if (await isHealthy(request, options)) return reply.type('text/plain; charset=utf-8').send('shieldlog green\n');
    const type = elasticsearchType(request.headers.accept);
    return reply.code(TOO_MANY).headers(RETRY_AFTER).type(type).send(errorBody(TOO_MANY, 'nothing can be stored now'));
  });
}
