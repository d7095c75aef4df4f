import type { FieldError } from '../../query/request/request-errors.ts';
import { JSON_TYPES } from '../http/content-negotiation.ts';
import { MAX_LISTED_LETTERS } from '../http/dead-letter-json.ts';
import { type ErrorKey, PROBLEM_CONTENT_TYPE, PROBLEMS, problemBody, RequestProblem, STORE_PROBLEMS } from '../http/problem.ts';
import { BODY_DEADLINE_MS, SEARCH_BODY_BYTES } from '../http/request-body.ts';
import { MAX_WAITING_READS } from '../scheduling/fair-queue.ts';
import { type Examples, int32Schema, ref, textSchema } from './openapi-elements.ts';

const PROBLEM_TYPE = PROBLEM_CONTENT_TYPE.split(';', 1)[0] ?? PROBLEM_CONTENT_TYPE;

const NOT_A_LIMIT = `"0" is not a whole number 1..${MAX_LISTED_LETTERS}`;

/** An example of the detail of each problem. */
const DETAILS: Partial<Record<ErrorKey, string>> = {
  'request.malformed': 'The body is not JSON: it ends in the middle of an object',
  'request.invalid': `limit: ${NOT_A_LIMIT}`,
  'access.key_missing': 'The AccessKey header is missing',
  'access.key_unknown': 'The AccessKey header holds no key of this program',
  'access.zone_denied': 'The access key does not open shield zone 7',
  'access.foreign_page':
    "Origin: https://elsewhere.example is not the page's own server; allowed without access keys: http://127.0.0.1:8080, " +
    'https://waf.example',
  'accept.none': 'Accept: text/html takes none of application/json',
  'request.timeout': `the request body did not arrive whole within ${BODY_DEADLINE_MS} ms`,
  'backtest.refused': 'another backtest is under way; begin this one when it has ended',
  'backup.refused': STORE_PROBLEMS.backup_taken.detail,
  'check.refused': 'another check is under way; begin this one when it has ended',
  'kafka.rewind_refused': 'topic events is not read here; allowed: a topic of KAFKA_TOPICS',
  'kafka.skip_refused': 'topic events partition 3 waits at offset 1204, not 1205; nothing is skipped',
  'body.too_large': `The request body has more than ${SEARCH_BODY_BYTES} bytes; allowed: at most ${SEARCH_BODY_BYTES} bytes`,
  'body.unsupported_type': `Content-Type: text/csv is not supported; allowed: ${JSON_TYPES.join(', ')}`,
  'feed.cursor_ahead':
    'Events up to the cursor are not here: the program has lost its last ones, or runs on a copy of its data folder; oldestCursor goes ' +
    'on with what came since',
  'feed.cursor_expired': 'Events behind the cursor are past the retention and gone; oldestCursor goes on with the oldest that is kept',
  'tail.full': 'There are 64 live tails already, and no more are served; try again when one has ended',
  'search.deadline': 'The search was interrupted: it was not done within 30000 ms; ask for a smaller window or add filters',
  'store.append_failed': STORE_PROBLEMS.append_failed.detail,
  'caller.busy': `${MAX_WAITING_READS} requests of this caller are waiting already; ask for fewer at a time`,
  // The memory of answers and that of bodies, the slots of exports and those of feeds end in it, too, each with its own detail.
  'store.busy': STORE_PROBLEMS.overloaded.detail,
  'store.unavailable': STORE_PROBLEMS.unavailable.detail,
  'program.stopping': 'The program is stopping; try again when it is back',
};

const FIELD_ERRORS: readonly FieldError[] = [{ field: 'limit', message: NOT_A_LIMIT }];

const RETRY_AFTER = { description: 'When to try again', required: true, schema: { type: 'integer', description: 'Seconds' } };
const WWW_AUTHENTICATE = { description: 'What is to be presented', required: true, schema: { type: 'string' } };

/** The header of every 5xx. */
export const REQUEST_ID = { description: 'The id that the log of the program has, too', required: true, schema: { type: 'string' } };

/** The headers of all answers of a status. */
export const STATUS_HEADERS: Readonly<Record<number, { readonly headers: object }>> = {
  401: { headers: { 'WWW-Authenticate': WWW_AUTHENTICATE } },
  429: { headers: { 'Retry-After': RETRY_AFTER } },
  500: { headers: { 'X-Request-Id': REQUEST_ID } },
  502: { headers: { 'X-Request-Id': REQUEST_ID } },
  503: { headers: { 'Retry-After': RETRY_AFTER, 'X-Request-Id': REQUEST_ID } },
  504: { headers: { 'X-Request-Id': REQUEST_ID } },
};

function exampleOf(key: ErrorKey, path: string): Examples[string] {
  const errors = key === 'request.invalid' ? { errors: FIELD_ERRORS } : {};
  const problem = new RequestProblem(key, DETAILS[key] ?? PROBLEMS[key].title, errors);
  return { summary: PROBLEMS[key].title, value: JSON.parse(problemBody(problem, path)) };
}

function sameStatus(keys: readonly ErrorKey[], path: string) {
  const examples = Object.fromEntries(keys.map((key) => [key, exampleOf(key, path)]));
  return {
    description: keys.map((key) => PROBLEMS[key].title).join('; '),
    content: { [PROBLEM_TYPE]: { schema: ref('ProblemDetails'), examples } },
  };
}

/** The answers for the problems of a path, by status, where nothing else can fail. */
export function problemsAlone(path: string, ...keys: readonly ErrorKey[]) {
  const byStatus = Map.groupBy(keys, (key) => PROBLEMS[key].status);
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [status, { ...sameStatus(same, path), ...(STATUS_HEADERS[status] ?? {}) }]),
  );
}

/** A defect has no body: the program's log tells what happened. */
export const DEFECT = { 500: { description: 'A defect of the program; no body', ...STATUS_HEADERS[500] } };

/** The answers for the problems of a path, by status, and for a defect. */
export function problemAnswers(path: string, ...keys: readonly ErrorKey[]) {
  return { ...problemsAlone(path, ...keys), ...DEFECT };
}

/** The problems of routes that need an access key. */
export const KEY_PROBLEMS = ['access.key_missing', 'access.key_unknown', 'access.foreign_page'] as const;

/** The problems of routes that need an access key and take a body whole. */
export const BODY_PROBLEMS = [
  'request.malformed',
  'request.invalid',
  ...KEY_PROBLEMS,
  'request.timeout',
  'body.too_large',
  'body.unsupported_type',
] as const;

/** The problems of routes that need the store. */
export const AVAILABILITY_PROBLEMS = ['store.busy', 'store.unavailable', 'program.stopping'] as const;

/** RFC 9457 with the members that this program adds. */
export const PROBLEM_DETAILS = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'errorKey'],
  properties: {
    type: { ...textSchema, description: 'Where the status is defined' },
    title: textSchema,
    status: int32Schema,
    detail: { ...textSchema, description: 'What is wrong, with the value and what is allowed' },
    instance: { type: ['string', 'null'], description: "The request's path" },
    errorKey: { enum: Object.keys(PROBLEMS), description: 'For programs' },
    oldestCursor: { ...textSchema, description: 'With status 416: the cursor to go on with' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { ...textSchema, description: 'JSON path, or name of a parameter' }, message: textSchema },
      },
    },
  },
} as const;
