import { type ErrorFacts, errorBody } from '../../edge/error-shapes.ts';
import type { Operation, ProxiedRoute } from '../../edge/operation.ts';
import { fillPath } from '../../edge/proxy-upstream.ts';
import { STATUS_HEADERS } from './openapi-problems.ts';

type Facts = Pick<ErrorFacts, 'key' | 'message' | 'field'>;

interface StatusWords {
  readonly description: string;
  readonly facts: Facts;
}

const FIELD_WRONG: Facts = { key: 'request.invalid', field: 'nonsense', message: 'nonsense: is not a parameter of this operation' };

const WORDS: Readonly<Record<number, StatusWords>> = {
  400: { description: 'The request is wrong', facts: FIELD_WRONG },
  401: {
    description: 'The access key is missing or unknown',
    facts: { key: 'access.key_missing', message: 'The AccessKey header is missing' },
  },
  403: {
    description: 'The access key does not open it, or a web page elsewhere asks',
    facts: { key: 'access.scope_denied', message: 'The access key does not have the scope "personal"' },
  },
  404: { description: 'There is no such thing', facts: { key: 'script.not_found', field: 'id', message: 'There is no script 9999' } },
  408: {
    description: 'The body did not arrive in time',
    facts: { key: 'request.timeout', message: 'the request body did not arrive whole within 30000 ms' },
  },
  413: {
    description: 'The body is too large',
    facts: { key: 'body.too_large', message: 'The request body has more than 65536 bytes; allowed: at most 65536 bytes' },
  },
  415: {
    description: 'The content type or encoding is not supported',
    facts: {
      key: 'body.unsupported_type',
      field: 'Content-Type',
      message: 'Content-Type: text/csv is not supported; allowed: application/json',
    },
  },
  500: {
    description: 'A defect of the program',
    facts: { key: 'internal', message: 'The request failed; the program has logged why' },
  },
  502: {
    description: 'The upstream cannot be reached, or its answer is not one to hand on',
    facts: { key: 'upstream.unreachable', message: 'The upstream could not be reached, or did not speak HTTP' },
  },
  503: {
    description: 'Overloaded, or stopping',
    facts: { key: 'program.stopping', message: 'The program is stopping; try again when it is back' },
  },
  504: {
    description: 'The upstream is too slow',
    facts: { key: 'upstream.too_slow', message: 'The upstream did not answer in time' },
  },
};

/** What only one operation says. */
const OWN_FACTS: Readonly<Record<string, Readonly<Record<number, Facts>>>> = {
  addDnsZone: { 400: { key: 'dnszone.name_taken', field: 'Domain', message: 'Domain: there is a zone of example.com already' } },
  removeHostname: { 404: { key: 'pullZone.not_found', field: 'id', message: 'There is no pull zone 9999' } },
  requestExternalHttpCertificate: {
    404: { key: 'hostname.not_found', field: 'Hostname', message: 'Hostname: no pull zone has the hostname "nobody.example.com"' },
  },
  completeExternalHttpCertificate: {
    400: {
      key: 'certificate.no_challenge',
      field: 'Hostname',
      message: 'Hostname: no challenge is pending for shop.example.com; request one first',
    },
    404: { key: 'hostname.not_found', field: 'Hostname', message: 'Hostname: no pull zone has the hostname "nobody.example.com"' },
  },
  setBotAction: { 404: { key: 'bot.not_found', field: 'botId', message: 'There is no bot 9999' } },
  getAccessList: { 404: { key: 'accessList.not_found', field: 'id', message: 'Shield zone 7 has no access list 9999' } },
  getApplicationStatistics: { 404: { key: 'application.not_found', field: 'appId', message: 'There is no application "nobody"' } },
  getApplicationOverview: { 404: { key: 'application.not_found', field: 'appId', message: 'There is no application "nobody"' } },
  getHttpChallenge: { 404: { key: 'route.not_found', message: 'There is nothing at GET /.well-known/acme-challenge/unknown' } },
  databasePipeline: {
    401: { key: 'TOKEN_MISSING', message: 'an access token is required: Authorization: Bearer <token>' },
    403: { key: 'SQLITE_READONLY', message: 'the token is Read Only: nothing was written' },
  },
};

/** Errors differ in it; a fixed one for the description, which would otherwise never be the same twice. */
const SAMPLE_ID = '5f0c1c62-7a3b-4a53-9c58-3b6de1d0a1f4';

/** A route, and what its placeholders may be. */
type ExampledRoute = Pick<ProxiedRoute, 'id' | 'name' | 'path' | 'key' | 'errorShape'> & {
  readonly example: Pick<Operation['example'], 'params'>;
};

function exampleOf({ errorShape, name, path, example }: ExampledRoute, status: number, words: StatusWords) {
  const facts = OWN_FACTS[name]?.[status] ?? words.facts;
  const { contentType, body } = errorBody(errorShape, { status, ...facts, instance: fillPath(path, example.params) });
  const value = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return { type: contentType.split(';', 1)[0] ?? contentType, value: Object.hasOwn(value, 'id') ? { ...value, id: SAMPLE_ID } : value };
}

/** How an operation's error of a status is described: in its shape, with an example made as the error itself is. */
export function errorAnswer(operation: ExampledRoute, status: number, schema: object): object {
  const words = WORDS[status];
  if (words === undefined) throw new Error(`There are no words for status ${status} of operation ${operation.id}`);
  const { type, value } = exampleOf(operation, status, words);
  const examples = { example: { summary: words.description, value } };
  return { description: words.description, ...(STATUS_HEADERS[status] ?? {}), content: { [type]: { schema, examples } } };
}
