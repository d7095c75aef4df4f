import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BULK_ACTIONS, LONGEST_INDEX_BYTES, STORING } from '../../../ingest/doors/bulk.ts';
import { type BulkItems, bulkItemBytes } from '../../../ingest/doors/envelope.ts';
import { onePiece } from '../../http/answer-writes.ts';
import { beginAnswer } from '../../http/begin-answer.ts';
import { requireContentType } from '../../http/content-negotiation.ts';
import { BULK_TYPES, elasticsearchError, elasticsearchType, PRODUCT_HEADERS } from '../../http/elasticsearch-answers.ts';
import { RequestProblem } from '../../http/problem.ts';
import {
  type DoorOutcome,
  type DoorRoutesOptions,
  doorConfig,
  type ErrorWords,
  isHealthy,
  openDoor,
  RETRY_AFTER,
  refusedRecord,
} from './door.ts';

/** A busy Elasticsearch says 429, and its clients wait and try again. */
const TOO_MANY = 429;

function bulkError({ status, message }: RequestProblem, request: FastifyRequest): ErrorWords {
  const told = status === 503 ? TOO_MANY : status;
  return { status: told, type: elasticsearchType(request.headers.accept), body: JSON.stringify(elasticsearchError(told, message)) };
}

const NOT_SUPPORTED = 'is not supported here: allowed are index and create';
/** The texts of so many indices are kept while an answer is written. */
const MOST_KEPT_TEXTS = 100;
/** An answer is written in parts of so many characters, or one item. */
const PART_LENGTH = 8 * 1024;
const NO_ITEMS: BulkItems = { actions: new Uint8Array(), indices: new Uint16Array(), names: [] };

/** What is wrong with an item, of the type that Elasticsearch gives it; null where it is stored. */
interface ItemError {
  readonly type: string;
  readonly reason: string;
}

/** Tells what is wrong with each item, by its index among them. */
function errorsOf({ items, report, refusal }: DoorOutcome): readonly (ItemError | null)[] {
  const { accepted, expired, leftOut = 0 } = report;
  const areAllLetters = accepted + expired + leftOut === 0;
  const reasons = new Map<number, string>();
  for (const rejected of report.rejected) {
    const { index, reason } = refusedRecord(rejected);
    // Of a document that the mapping made several of, some may be kept.
    if (rejected.kept === false || (areAllLetters && !reasons.has(index))) reasons.set(index, reason);
  }
  let record = 0;
  return Array.from(items?.actions ?? [], (action) => {
    if (action >= STORING) return { type: 'illegal_argument_exception', reason: `${BULK_ACTIONS[action]} ${NOT_SUPPORTED}` };
    const reason = reasons.get(record) ?? (areAllLetters ? refusal?.reason : undefined);
    record += 1;
    return reason === undefined ? null : { type: 'document_parsing_exception', reason };
  });
}

/** The answer to a request in parts, as it is written: that of long names may be many times as long as its body. */
function* bulkAnswer(tookMs: number, path: string, { actions, indices, names }: BulkItems, errors: readonly (ItemError | null)[]) {
  let text = `{"took":${tookMs},"errors":${errors.some((error) => error !== null)},"items":[`;
  // What is stored of an index by an action has one text.
  const created = new Map<number, string>();
  for (const [item, error] of errors.entries()) {
    const [action = 0, name = 0] = [actions[item], indices[item]];
    const key = name * BULK_ACTIONS.length + action;
    const answered = (result: string) => `{"${BULK_ACTIONS[action]}":{"_index":${JSON.stringify(names[name] || path)},${result}}}`;
    const kept = error === null ? created.get(key) : answered(`"status":400,"error":${JSON.stringify(error)}`);
    const told = kept ?? answered('"status":201,"result":"created"');
    if (kept === undefined && created.size < MOST_KEPT_TEXTS) created.set(key, told);
    text += item === 0 ? told : `,${told}`;
    if (text.length < PART_LENGTH) continue;
    yield text;
    text = '';
  }
  yield `${text}]}`;
}

/** The index that the path names; "" where it names none. */
function pathIndexOf({ params }: FastifyRequest): string {
  return (params as { readonly index?: string }).index ?? '';
}

/** `/_bulk` of Elasticsearch. An answer is one of success where all is on the disk; single letters are no errors. */
export async function elasticsearchRoutes(app: FastifyInstance, options: DoorRoutesOptions): Promise<void> {
  openDoor(app, options, 'elasticsearch', bulkError);
  const { intake, turns } = options;
  app.addHook('onSend', async (_request, reply) => void reply.headers(PRODUCT_HEADERS));
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    requireContentType(request.headers['content-type'], (type) => BULK_TYPES.some((one) => one === type), BULK_TYPES.join(', '));
    const indexBytes = Buffer.byteLength(pathIndexOf(request));
    if (indexBytes > LONGEST_INDEX_BYTES) {
      const what = `The name of the index in the path has ${indexBytes} bytes: at most ${LONGEST_INDEX_BYTES} are allowed`;
      throw new RequestProblem('request.malformed', what);
    }
    intake.requireMapping(request);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const sinceMs = performance.now();
    const outcome = await intake.take(request, reply, 'bulk');
    const index = pathIndexOf(request);
    const { items = NO_ITEMS } = outcome;
    intake.holdAnswer(request, reply, bulkItemBytes(items));
    const errors = errorsOf(outcome);
    const tookMs = Math.round(performance.now() - sinceMs);
    const read = () => onePiece(bulkAnswer(tookMs, index, items, errors));
    const body = await beginAnswer({ turns, reply, what: 'an answer', read });
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
    const body = JSON.stringify(elasticsearchError(TOO_MANY, 'nothing can be stored now'));
    return reply.code(TOO_MANY).headers(RETRY_AFTER).type(type).send(body);
  });
}
