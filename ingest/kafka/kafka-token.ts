import { getCACertificates } from 'node:tls';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  clientCredentialsGrantRequest,
  customFetch,
  OperationProcessingError,
  processClientCredentialsResponse,
  ResponseBodyError,
  type TokenEndpointResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { Agent, fetch as fetchWith } from 'undici';
import type { StoreLogger } from '../../store/event-store.ts';

/** The client of the client credentials grant (RFC 6749, section 4.4). */
export interface KafkaOAuthClient {
  /** The token endpoint. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes separated by blanks; null: none. */
  readonly scope: string | null;
}

/** There is no access token. The message is one line that names the endpoint, and its status if it answered. */
export class KafkaTokenError extends Error {
  override readonly name = 'KafkaTokenError';
}

/** Shorter than kafkajs's limit for the authentication of a connection. */
export const TOKEN_DEADLINE_MS = 8_000;
export const MAX_TOKEN_ANSWER_BYTES = 1024 * 1024;
/** kafkajs authenticates a connection again 10 s before its session ends, for which it needs a new token. */
const MIN_LEFT_MS = 15_000;
/** Tokens are renewed when a fifth of their lifetime is left, as Kafka's own clients do. */
const PART_LEFT = 0.2;

interface HeldToken {
  readonly value: string;
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/** Makes one line of a text from the endpoint. */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 300);

function adviceOn(status: number): string {
  if (status === 400 || status === 401 || status === 403) {
    return '; check KAFKA_SASL_OAUTH_CLIENT_ID, KAFKA_SASL_OAUTH_CLIENT_SECRET and KAFKA_SASL_OAUTH_SCOPE';
  }
  return status < 500 ? '; check KAFKA_SASL_OAUTH_TOKEN_URL' : '';
}

/** Says why a request for a token failed, in words that follow the endpoint's name. */
function whyNoToken(error: unknown): string {
  if (error instanceof ResponseBodyError) {
    const { status, error: code, error_description: description } = error;
    return `answered ${status} ${oneLine(code)}${description === undefined ? '' : ` (${oneLine(description)})`}${adviceOn(status)}`;
  }
  if (error instanceof WWWAuthenticateChallengeError) return `answered ${error.status}${adviceOn(error.status)}`;
  if (error instanceof OperationProcessingError) {
    const { cause } = error;
    const { status } = (cause instanceof Error ? {} : (cause ?? {})) as { readonly status?: number };
    return status === undefined || status === 200
      ? `answered what is no access token: ${oneLine(error.message)}`
      : `answered ${status}${adviceOn(status)}`;
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') return `did not answer within ${TOKEN_DEADLINE_MS / 1_000} s`;
  const { message, cause } = error as Error;
  const { code, message: why } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  const untrusted = /CERT|SIGNATURE|ISSUER/.test(code ?? '') ? '; KAFKA_TLS_CA_FILE may name its authority' : '';
  return `cannot be reached: ${oneLine(why || code || message)}${untrusted}`;
}

/** Keeps an access token, and requests a new one in time. Concurrent callers share one request. */
export class KafkaTokens {
  readonly #client: KafkaOAuthClient;
  readonly #logger: StoreLogger;
  readonly #now: () => number;
  #held: HeldToken | null = null;
  #underWay: Promise<string> | null = null;

  constructor(client: KafkaOAuthClient, logger: StoreLogger, now: () => number) {
    this.#client = client;
    this.#logger = logger;
    this.#now = now;
  }

  /** Resolves with a token that is still valid. `ca` are authorities in addition to Node's. Throws KafkaTokenError. */
  async token(ca: readonly string[]): Promise<string> {
    if (this.#held !== null && this.#now() < this.#held.renewAtMs) return this.#held.value;
    this.#underWay ??= this.#renew(ca).finally(() => {
      this.#underWay = null;
    });
    return await this.#underWay;
  }

  async #renew(ca: readonly string[]): Promise<string> {
    const askedMs = this.#now();
    let answer: TokenEndpointResponse;
    try {
      answer = await requestToken(this.#client, ca);
    } catch (error) {
      // The query is left out, because it may hold a secret.
      const { origin, pathname } = new URL(this.#client.tokenUrl);
      const message = `no access token for Kafka: the token endpoint ${origin}${pathname} ${whyNoToken(error)}`;
      const held = this.#held;
      if (held === null || askedMs + MIN_LEFT_MS > held.expiresAtMs) throw new KafkaTokenError(message, { cause: error });
      this.#logger.warn({}, `${message}; the one before is used until it expires`);
      return held.value;
    }
    const { access_token: value, expires_in: lifetimeS } = answer;
    // A token without a lifetime is used once.
    const lifetimeMs = (lifetimeS ?? 0) * 1_000;
    const renewAtMs = askedMs + lifetimeMs - Math.max(MIN_LEFT_MS, lifetimeMs * PART_LEFT);
    this.#held = { value, renewAtMs, expiresAtMs: askedMs + lifetimeMs };
    return value;
  }
}

async function requestToken(
  { tokenUrl, clientId, clientSecret, scope }: KafkaOAuthClient,
  ca: readonly string[],
): Promise<TokenEndpointResponse> {
  const dispatcher = new Agent({ maxResponseSize: MAX_TOKEN_ANSWER_BYTES, connect: { ca: [...getCACertificates('default'), ...ca] } });
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const client = { client_id: clientId };
  const request = (
    url: string,
    { method, headers, body, signal }: { method: string; headers: Record<string, string>; body: URLSearchParams; signal?: AbortSignal },
  ) =>
    fetchWith(url, {
      method,
      headers,
      body: body.toString(),
      redirect: 'manual',
      dispatcher,
      ...(signal === undefined ? {} : { signal }),
    }) as unknown as Promise<Response>;
  try {
    const response = await clientCredentialsGrantRequest(server, client, ClientSecretBasic(clientSecret), scope === null ? {} : { scope }, {
      [customFetch]: request,
      // The configuration allows http: on loopback only.
      [allowInsecureRequests]: true,
      signal: AbortSignal.timeout(TOKEN_DEADLINE_MS),
    });
    return await processClientCredentialsResponse(server, client, response);
  } finally {
    await dispatcher.destroy();
  }
}
