import type { IncomingHttpHeaders } from 'node:http';

/** A request to the HTTP interface of a server. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A request that asks a server to run a statement, which may be changed before it goes on. */
export class StatementRequest {
  readonly raw: RawRequest;
  readonly statement: string;
  readonly #url: URL;
  /** Where the statement stands in the body; undefined where it stands in the URL. */
  readonly #place: { readonly from: number; readonly to: number } | undefined;

  private constructor(raw: RawRequest) {
    const { path, headers, body } = raw;
    this.raw = raw;
    this.#url = new URL(path, 'http://server');
    const inUrl = this.#url.searchParams.get('query');
    const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(headers['content-type'] ?? '')?.[1];
    this.#place = inUrl !== null ? undefined : boundary === undefined ? { from: 0, to: body.length } : queryField(body, boundary);
    this.statement = inUrl ?? body.toString('utf8', this.#place?.from, this.#place?.to);
  }

  /** Undefined for a request without a statement, such as GET /ping. */
  static of(raw: RawRequest): StatementRequest | undefined {
    const asked = new StatementRequest(raw);
    return asked.#url.pathname !== '/' || asked.statement === '' ? undefined : asked;
  }

  /** Whether the body is the data of an INSERT. */
  get hasData(): boolean {
    return this.#place === undefined && /^\s*INSERT\b/i.test(this.statement);
  }

  /** The id that the client has given the statement; empty where it leaves that to the server. */
  get queryId(): string {
    return this.#url.searchParams.get('query_id') ?? '';
  }

  /** A setting that the client sends with the statement. */
  setting(name: string): string | undefined {
    return this.#url.searchParams.get(name) ?? undefined;
  }

  /** The same request with this statement, and with these fields of its URL. */
  with(statement: string, fields: Readonly<Record<string, string>> = {}): StatementRequest {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
    const place = this.#place;
    if (place === undefined) url.searchParams.set('query', statement);
    const { body } = this.raw;
    const parts = place === undefined ? [body] : [body.subarray(0, place.from), Buffer.from(statement), body.subarray(place.to)];
    return new StatementRequest({ ...this.raw, path: `${url.pathname}${url.search}`, body: Buffer.concat(parts) });
  }
}

/** Where the value of the field `query` stands in a form. */
function queryField(body: Buffer, boundary: string): { readonly from: number; readonly to: number } {
  const head = body.indexOf('name="query"');
  const from = body.indexOf('\r\n\r\n', head) + 4;
  const to = body.indexOf(`\r\n--${boundary}`, from);
  return head < 0 || to < 0 ? { from: 0, to: 0 } : { from, to };
}
