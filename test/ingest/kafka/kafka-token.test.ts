import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { KafkaTokenError, KafkaTokens } from '../../../ingest/kafka/kafka-token.ts';
import { freePorts } from '../../broker/free-port.ts';
import { sendJson, tokenEndpoint } from '../../broker/token-endpoint.ts';

/** Tokens of an endpoint, with a clock that the test sets. */
function tokensOf(tokenUrl: string) {
  const clock = { nowMs: 0 };
  const warnings: string[] = [];
  const logger = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message), error: () => {} };
  const client = { tokenUrl, clientId: 'me', clientSecret: 'its:secret', scope: null };
  return { clock, warnings, tokens: new KafkaTokens(client, logger, () => clock.nowMs) };
}

const grant = (response: ServerResponse, asked: number, expires_in?: number): void =>
  sendJson(response, 200, { access_token: `token ${asked}`, token_type: 'Bearer', ...(expires_in === undefined ? {} : { expires_in }) });

/** The message of the KafkaTokenError. */
async function fault(tokens: KafkaTokens): Promise<string> {
  try {
    await tokens.token([]);
  } catch (error) {
    if (error instanceof KafkaTokenError) return error.message;
    throw error;
  }
  throw new Error('there was a token');
}

describe('an access token', () => {
  test('is asked for once by all who want it at a time', async () => {
    const endpoint = await tokenEndpoint((response, asked) => grant(response, asked, 3_600));
    const { tokens } = tokensOf(endpoint.url);
    expect(await Promise.all([tokens.token([]), tokens.token([]), tokens.token([])])).toEqual(['token 1', 'token 1', 'token 1']);
  });

  test.each([
    [3_600, 2_879, 2_880],
    [300, 239, 240],
    [60, 44, 45],
    [20, 4, 5],
  ])('of %i s is kept for %i s and renewed after %i s', async (lifetimeS, keptS, renewedS) => {
    const endpoint = await tokenEndpoint((response, asked) => grant(response, asked, lifetimeS));
    const { tokens, clock } = tokensOf(endpoint.url);
    await tokens.token([]);
    clock.nowMs = keptS * 1_000;
    expect(await tokens.token([])).toBe('token 1');
    clock.nowMs = renewedS * 1_000;
    expect(await tokens.token([])).toBe('token 2');
  });

  test('without a lifetime is not kept', async () => {
    const endpoint = await tokenEndpoint((response, asked) => grant(response, asked));
    const { tokens } = tokensOf(endpoint.url);
    expect([await tokens.token([]), await tokens.token([])]).toEqual(['token 1', 'token 2']);
  });

  test('is used on, with a warning, where no other can be had, until it is about to expire', async () => {
    const endpoint = await tokenEndpoint((response, asked) =>
      asked === 1 ? grant(response, asked, 300) : void response.writeHead(503).end(),
    );
    const { tokens, clock, warnings } = tokensOf(endpoint.url);
    await tokens.token([]);
    clock.nowMs = 250_000;
    expect(await tokens.token([])).toBe('token 1');
    expect(warnings).toEqual([expect.stringMatching(/answered 503; the one before is used until it expires$/)]);
    clock.nowMs = 290_000;
    expect(await fault(tokens)).toMatch(/answered 503$/);
  });
});

describe('a token endpoint', () => {
  test('is named without its query, which may hold a secret', async () => {
    const endpoint = await tokenEndpoint((response) => void response.writeHead(503).end());
    const message = await fault(tokensOf(`${endpoint.url}?secret=hush`).tokens);
    expect(message).toContain(`the token endpoint ${endpoint.url} answered 503`);
    expect(message).not.toContain('hush');
  });

  test.each<[string, (response: ServerResponse) => void, RegExp]>([
    [
      'a wrong secret',
      (response) => sendJson(response, 401, { error: 'invalid_client', error_description: 'no\nsuch client' }),
      /answered 401 invalid_client \(no such client\); check KAFKA_SASL_OAUTH_CLIENT_ID, /,
    ],
    [
      'a wrong scope',
      (response) => sendJson(response, 400, { error: 'invalid_scope' }),
      /answered 400 invalid_scope; check .*KAFKA_SASL_OAUTH_SCOPE$/,
    ],
    ['a challenge', (response) => void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(), /answered 401; check/],
    ['a wrong path', (response) => void response.writeHead(404).end('no'), /answered 404; check KAFKA_SASL_OAUTH_TOKEN_URL$/],
    [
      'a redirect',
      (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /answered 302; check KAFKA_SASL_OAUTH_TOKEN_URL$/,
    ],
    ['a failure', (response) => void response.writeHead(503).end(), /answered 503$/],
    [
      'no JSON',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      /answered what is no access token: /,
    ],
    ['no token', (response) => sendJson(response, 200, { token_type: 'Bearer' }), /answered what is no access token: /],
    ['an end without an answer', (response) => void response.destroy(), /cannot be reached: /],
    ['silence', () => {}, /did not answer within 8 s$/],
  ])('that answers with %s is named, with its status', async (_what, answer, words) => {
    const endpoint = await tokenEndpoint((response) => answer(response));
    const message = await fault(tokensOf(endpoint.url).tokens);
    expect(message).toMatch(words);
    expect(message.startsWith(`no access token for Kafka: the token endpoint ${endpoint.url} `)).toBe(true);
    expect(message).not.toMatch(/its:secret|\n/);
  });

  test('that is not there is named', async () => {
    const [port = 0] = await freePorts(1);
    const message = await fault(tokensOf(`http://127.0.0.1:${port}/token`).tokens);
    expect(message).toMatch(/endpoint http:\/\/127\.0\.0\.1:\d+\/token cannot be reached: .*ECONNREFUSED/);
  });
});
