import { ERROR_SHAPES, type ErrorFacts, type ErrorShape } from '../error-shapes.ts';
import { INT32_SCHEMA, type JsonSchema, type Properties, queryOf } from './json-schema.ts';

/**
 * The service of an operation: the management interface, the database with a URL and token of its own, or always the local control plane.
 */
export type Upstream = 'management' | 'database' | 'local';

interface KeyFacts {
  /** The scheme that a 401 names in `WWW-Authenticate`. */
  readonly challenge: 'AccessKey' | 'Bearer';
  /** The security scheme in the interface's description; null: no credential is needed. */
  readonly securityScheme: 'AccessKey' | 'PersonalAccessKey' | 'DatabaseToken' | null;
  /** A sentence for the description of the operation. */
  readonly about: string;
}

/** The credentials that an operation asks for. `none` is open to everyone, and the upstream gets no credential of the program. */
export const KEY_KINDS = {
  access: { challenge: 'AccessKey', securityScheme: 'AccessKey', about: 'Needs an access key with the scope manage.' },
  personal: { challenge: 'AccessKey', securityScheme: 'PersonalAccessKey', about: 'Needs a personal access key.' },
  'access-and-zone': { challenge: 'AccessKey', securityScheme: 'AccessKey', about: 'Needs an access key that opens the shield zone.' },
  bearer: { challenge: 'Bearer', securityScheme: 'DatabaseToken', about: 'A Read Only token may only read.' },
  none: { challenge: 'AccessKey', securityScheme: null, about: 'Needs no key.' },
} as const satisfies Readonly<Record<string, KeyFacts>>;

export type KeyKind = keyof typeof KEY_KINDS;

export interface OperationDeadlines {
  /** From the request being handed over to the upstream's headers being read, connecting included. */
  readonly headersMs: number;
  /** From the headers to the last byte of the body, however steadily it drips. */
  readonly bodyMs: number;
}

/** A call that works on a fresh local control plane, and its answer. The interface's description shows it, and the tests run it. */
export interface OperationExample {
  /** The path's placeholders. */
  readonly params: Readonly<Record<string, string | number>>;
  readonly query: Readonly<Record<string, string | number>>;
  /** Null: none. */
  readonly body: unknown;
  /** Null: none. */
  readonly answer: unknown;
  /** The name of the operation whose example has to be called before. */
  readonly after?: string;
}

/** An error that only this operation answers, as the interface's description shows it. */
export interface ErrorExample extends Pick<ErrorFacts, 'key' | 'message' | 'field'> {
  /** Replaces parts of the operation's example, so that the answer is this error. The tests send it. */
  readonly request?: Partial<Pick<OperationExample, 'params' | 'query' | 'body'>>;
}

/** One operation beside the search. The proxy, the local control plane, the interface's description and the tests read this row. */
export interface Operation {
  /** The number in the specification, from 2 on, of the operation that it is or stands beside. */
  readonly number: number;
  /** camelCase, unique. */
  readonly name: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Fastify style: `/pullzone/:id/removeHostname`. */
  readonly path: string;
  readonly upstream: Upstream;
  readonly key: KeyKind;
  /** Whether clients ask for it under host names that are not the program's own. */
  readonly anyHost: boolean;
  readonly errorShape: ErrorShape;
  /** An object schema with one property for each placeholder of the path. */
  readonly params: JsonSchema;
  /** An object schema. Parameters that it does not name are passed over, and not handed on. */
  readonly query: JsonSchema;
  /** Null: no body is taken. */
  readonly body: JsonSchema | null;
  /** 0 where no body is taken. */
  readonly bodyLimitBytes: number;
  /** Media types taken, in lower case; `application/*+json` stands for every type with that ending. Empty where no body is taken. */
  readonly bodyTypes: readonly string[];
  /** The media type of a body that comes without one; null: such a body is refused. */
  readonly untypedIs: string | null;
  /** The status of its answer when all goes well. */
  readonly status: number;
  /** The media type of that answer. */
  readonly answerType: string;
  /** The member of its answers that may name an address of the upstream, and is answered as null; null: there is none. */
  readonly addressMember: string | null;
  /** The schemas of all its answers by status, errors included; null: no body. */
  readonly responses: Readonly<Record<number, JsonSchema | null>>;
  /** By status. */
  readonly errors: Readonly<Record<number, ErrorExample>>;
  /** Whether doing it twice is as good as once. Nothing else is ever sent a second time. */
  readonly idempotent: boolean;
  readonly deadlines: OperationDeadlines;
  readonly example: OperationExample;
}

/** Bodies of a few fields. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** Lists of thousands of records, and specifications of 2 MB written as a JSON string. */
export const LARGE_BODY_BYTES = 8 * 1024 * 1024;

const JSON_BODY: readonly string[] = ['application/json'];
export const ANY_JSON_BODY: readonly string[] = ['application/json', 'text/json', 'application/*+json'];

export const DEADLINES: OperationDeadlines = { headersMs: 15_000, bodyMs: 15_000 };

/** The path of a shield zone. */
export const ZONE_PATH: Properties = { shieldZoneId: INT32_SCHEMA };

/** The statuses of errors that every operation may be answered with, and those that one with a body may be, too. */
const ERROR_STATUSES: readonly number[] = [400, 401, 403, 500, 502, 503, 504];
const BODY_ERROR_STATUSES: readonly number[] = [408, 413, 415];

type Derived = 'params' | 'responses' | 'example';
type Optional =
  | 'upstream'
  | 'anyHost'
  | 'query'
  | 'body'
  | 'bodyLimitBytes'
  | 'bodyTypes'
  | 'untypedIs'
  | 'status'
  | 'answerType'
  | 'addressMember'
  | 'errors'
  | 'deadlines';

/** A row of the table, to which `defineOperation` adds the defaults. */
interface OperationRow extends Omit<Operation, Derived | Optional>, Partial<Pick<Operation, Optional>> {
  /** A schema for each placeholder of the path. */
  readonly params: Properties;
  /** The schema of its answer when all goes well; null: no body. */
  readonly answer: JsonSchema | null;
  /** The statuses of its errors where they are not the usual ones and those of `errors`. */
  readonly errorStatuses?: readonly number[];
  readonly example: Partial<OperationExample>;
}

/**
 * Makes a row of the table. By default the management interface answers with 200 and JSON, a body is JSON of up to 64 KiB, and the errors
 * are those of every operation and those of the row.
 */
export function defineOperation({ params, answer, errorStatuses, example, ...row }: OperationRow): Operation {
  const { body = null, status = 200, errors = {}, errorShape } = row;
  const usual = [...ERROR_STATUSES, ...(body === null ? [] : BODY_ERROR_STATUSES), ...Object.keys(errors).map(Number)];
  const ofErrors = (errorStatuses ?? usual).map((each) => [each, ERROR_SHAPES[errorShape].schema]);
  return {
    upstream: 'management',
    anyHost: false,
    query: queryOf({}),
    bodyLimitBytes: body === null ? 0 : SMALL_BODY_BYTES,
    bodyTypes: body === null ? [] : JSON_BODY,
    untypedIs: null,
    answerType: 'application/json',
    addressMember: null,
    deadlines: DEADLINES,
    ...row,
    body,
    status,
    errors,
    // All placeholders are there, or the path would be another.
    params: { type: 'object', properties: params, required: Object.keys(params) },
    responses: { [status]: answer, ...Object.fromEntries(ofErrors) },
    example: { params: {}, query: {}, body: null, answer: null, ...example },
  };
}

/** The operations of one kind of thing: a tag of the interface's description. */
export interface OperationGroup {
  readonly tag: string;
  readonly about: string;
  readonly operations: readonly Operation[];
  /** Calls that clients make beside these operations. */
  readonly companions?: readonly Operation[];
  /** The schemas that the interface's description speaks of by a name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}
