import kafkajs, { type AuthenticationProviderArgs, type Authenticator, type Kafka, type KafkaConfig, type SASLOptions } from 'kafkajs';
import { type KafkaLogger, kafkaLogCreator } from './kafka-log.ts';
import { type KafkaTls, readKafkaTls } from './kafka-tls.ts';
import { type KafkaOAuthClient, KafkaTokens } from './kafka-token.ts';

/** How to reach the brokers. `brokers` are `host:port`; without `tls` everything goes in the clear. */
export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly tls: KafkaTls | null;
  readonly sasl: KafkaCredentials | null;
}

export type KafkaCredentials =
  | { readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; readonly username: string; readonly password: string }
  | ({ readonly mechanism: 'oauthbearer' } & KafkaOAuthClient);

/** The broker did not take the access token. */
class KafkaTokenRefused extends Error {
  override readonly name = 'KafkaTokenRefused';
}

/**
 * Makes kafkajs clients, each with the certificates that are in the files by then. Their own retries are short: the source starts over from
 * the beginning when they are used up, for ever, and wants to say soon what is wrong. Making one throws KafkaTlsError.
 */
export function kafkaClients(
  { brokers, tls, sasl }: KafkaConnection,
  clientId: string,
  logger: KafkaLogger,
  now: () => number,
): () => Kafka {
  const tokens = sasl?.mechanism === 'oauthbearer' ? new KafkaTokens(sasl, logger, now) : null;
  return () => {
    const ssl = tls === null ? null : readKafkaTls(tls);
    const config: KafkaConfig = {
      clientId,
      brokers: [...brokers],
      ssl: ssl ?? false,
      connectionTimeout: 3_000,
      requestTimeout: 15_000,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 },
      logLevel: kafkajs.logLevel.INFO,
      logCreator: kafkaLogCreator(logger),
    };
    if (sasl === null) return new kafkajs.Kafka(config);
    const authorities = [ssl?.ca ?? []].flat().map(String);
    return new kafkajs.Kafka({
      ...config,
      sasl:
        tokens === null
          ? ({ ...sasl } as SASLOptions)
          : { mechanism: 'oauthbearer', authenticationProvider: (args) => bearer(args, () => tokens.token(authorities)) },
    });
  };
}

/**
 * SASL OAUTHBEARER (RFC 7628). kafkajs's own does not read the answer: a broker that refuses the token says so there, with status 0, and
 * takes it amiss when the client goes on.
 */
function bearer({ saslAuthenticate }: AuthenticationProviderArgs, token: () => Promise<string>): Authenticator {
  return {
    authenticate: async () => {
      const message = Buffer.from(`n,,\u0001auth=Bearer ${await token()}\u0001\u0001`);
      const size = Buffer.alloc(4);
      size.writeInt32BE(message.byteLength);
      const answer = await saslAuthenticate({
        request: { encode: async () => Buffer.concat([size, message]) },
        // The size comes first here, too; nothing follows where the token was taken.
        response: { decode: async (bytes) => bytes.subarray(4), parse: async (bytes) => bytes },
      });
      if (answer !== undefined && answer.byteLength > 0) throw new KafkaTokenRefused(answer.toString('utf8'));
    },
  };
}
