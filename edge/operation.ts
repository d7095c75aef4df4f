/** A JSON schema (draft 2020-12, within what draft-07 validators understand too). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Which service answers an operation: the management interface, or the database with a URL and token of its own. */
export type Upstream = 'management' | 'database';

/**
 * What a caller presents: `access`: an AccessKey; `personal`: one marked personal; `access-and-zone`: one that opens the shield zone of
 * the path; `bearer`: a database token in `Authorization`.
 */
export type KeyKind = 'access' | 'personal' | 'access-and-zone' | 'bearer';

/**
 * How an operation's errors are written. `problem`: ProblemDetails; `legacy`: `{ErrorKey, Field, Message}`; `errors-list`: a problem with
 * `errors` and `id`; `status`: `{statusCode}`; `pipeline`: `{error, message, code}`.
 */
export type ErrorShape = 'problem' | 'legacy' | 'errors-list' | 'status' | 'pipeline';

export interface OperationDeadlines {
  /** From the request being handed over to the upstream's headers being read, connecting included. */
  readonly headersMs: number;
  /** From the headers to the last byte of the body, however steadily it drips. */
  readonly bodyMs: number;
}

/** A call that works on a fresh local control plane, and what it answers: shown in the interface's description, and tried in the tests. */
export interface OperationExample {
  /** The path's placeholders, and the query. */
  readonly params: Readonly<Record<string, string | number>>;
  readonly query: Readonly<Record<string, string | number>>;
  /** Null: none. */
  readonly body: unknown;
  readonly status: number;
  /** Null: none. */
  readonly answer: unknown;
}

/** A route that is answered by whoever answers its operation: the operation itself, or a call that clients make beside it. */
export interface ProxiedRoute {
  /** The number in the specification, 2 to 14, of the operation that it is or stands beside. */
  readonly id: number;
  /** camelCase, unique. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Fastify style: `/pullzone/:id/removeHostname`. */
  readonly path: string;
  /** `local`: the local control plane, whatever is configured. */
  readonly upstream: Upstream | 'local';
  /** `none`: open to everyone, and no credential of ours goes along. */
  readonly key: KeyKind | 'none';
  /** Whether it is asked for under host names that are not this program's own. */
  readonly anyHost?: boolean;
  readonly errorShape: ErrorShape;
  /** An object schema with one property for each placeholder of the path. */
  readonly params: JsonSchema;
  /** An object schema; properties that it does not name are refused. */
  readonly query: JsonSchema;
  /** Null: no body is taken. */
  readonly body: JsonSchema | null;
  readonly bodyLimitBytes: number;
  /** Media types taken, in lower case; `application/*+json` stands for every type with that ending. Empty where there is no body. */
  readonly bodyTypes: readonly string[];
  /** Whether doing it twice is as good as once. Nothing else is ever sent a second time. */
  readonly idempotent: boolean;
  readonly deadlines: OperationDeadlines;
}

/** One operation of the management interface: all that the proxy, the local control plane and the interface's description need to know. */
export interface Operation extends ProxiedRoute {
  readonly summary: string;
  readonly upstream: Upstream;
  readonly key: KeyKind;
  /** By status; null: no body. */
  readonly responses: Readonly<Record<number, JsonSchema | null>>;
  readonly example: OperationExample;
}
