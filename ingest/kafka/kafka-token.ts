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
import type { StoreLogger } from '../../store/store-logger.ts';

/** Who asks for access tokens, by the client credentials grant (RFC 6749, section 4.4). */
export interface KafkaOAuthClient {
  /** The token endpoint. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes separated by blanks; null: none is asked for. */
  readonly scope: string | null;
}

/** No access token can be had; the message is one line that names the endpoint, and the status where it answered. */
export class KafkaTokenError extends Error {
  override readonly name = 'KafkaTokenError';
}

/** Shorter than the time that kafkajs gives to a connection's authentication. */
export const TOKEN_DEADLINE_MS = 8_000;
export const LARGEST_ANSWER_BYTES = 1024 * 1024;
/** kafkajs authenticates a connection again when its session has 10 s left; the token it then gets has to be a new one. */
const MIN_LEFT_MS = 15_000;
/** A token is renewed when a fifth of its time is left, as Kafka's own clients do. */
const PART_LEFT = 0.2;

interface HeldToken {
  readonly value: string;
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

/** One line, whatever the endpoint sent. */
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

/** What became of a request for a token, to stand behind the endpoint's name. */
function faultOf(error: unknown): string {
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

/**
 * Gives out an access token that has time left, from memory or from the endpoint; requests at the same time share one. `ca`: authorities to
 * trust beside Node's.
 */
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

  /** Throws KafkaTokenError. */
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
      // A query may hold a secret.
      const { origin, pathname } = new URL(this.#client.tokenUrl);
      const message = `no access token for Kafka: the token endpoint ${origin}${pathname} ${faultOf(error)}`;
      const held = this.#held;
      if (held === null || askedMs + MIN_LEFT_MS > held.expiresAtMs) throw new KafkaTokenError(message, { cause: error });
      this.#logger.warn({}, `${message}; the one before is used until it expires`);
      return held.value;
    }
    const { access_token: value, expires_in: lifetimeS } = answer;
    // Without a lifetime nobody knows how long it is good for.
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
  const dispatcher = new Agent({ maxResponseSize: LARGEST_ANSWER_BYTES, connect: { ca: [...getCACertificates('default'), ...ca] } });
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
