import kafkajs, {
  type AuthenticationProviderArgs,
  type Authenticator,
  type Kafka,
  type KafkaConfig,
  type logCreator,
  type SASLOptions,
} from 'kafkajs';
import { type StoreLogger, silentLogger } from '../../store/event-store.ts';
import { type KafkaTls, readKafkaTls } from './kafka-tls.ts';
import { type KafkaOAuthClient, KafkaTokens } from './kafka-token.ts';

/** pino's logger, for example. Stacks and kafkajs's own messages go to `debug`. */
export interface KafkaLogger extends StoreLogger {
  debug(details: object, message: string): void;
}

export const silentKafkaLogger: KafkaLogger = { ...silentLogger, debug: () => {} };

/** The way to the brokers. `brokers` are `host:port`; without `tls` the connection is not encrypted. */
export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly tls: KafkaTls | null;
  readonly sasl: KafkaCredentials | null;
}

export type KafkaCredentials =
  | { readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; readonly username: string; readonly password: string }
  | ({ readonly mechanism: 'oauthbearer' } & KafkaOAuthClient);

/** The broker refused the access token. */
class KafkaTokenRefused extends Error {
  override readonly name = 'KafkaTokenRefused';
}

/**
 * Returns a function that makes a kafkajs client with the certificates that are in the files at that time, or throws KafkaTlsError. The
 * clients' own retries are few, so that a fault shows soon; the source then starts over with a new client.
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
 * SASL OAUTHBEARER (RFC 7628). kafkajs's own implementation ignores the answer, in which a broker with status 0 may refuse the token; such
 * a broker closes the connection when the client goes on.
 */
function bearer({ saslAuthenticate }: AuthenticationProviderArgs, token: () => Promise<string>): Authenticator {
  return {
    authenticate: async () => {
      const message = Buffer.from(`n,,\u0001auth=Bearer ${await token()}\u0001\u0001`);
      const size = Buffer.alloc(4);
      size.writeInt32BE(message.byteLength);
      const answer = await saslAuthenticate({
        request: { encode: async () => Buffer.concat([size, message]) },
        // The answer begins with its size, too. It is empty where the token is accepted.
        response: { decode: async (bytes) => bytes.subarray(4), parse: async (bytes) => bytes },
      });
      if (answer !== undefined && answer.byteLength > 0) throw new KafkaTokenRefused(answer.toString('utf8'));
    },
  };
}

/**
 * Passes kafkajs's warnings and errors on at debug level. What kafkajs calls an error is one attempt of many, for example at a broker that
 * has not started yet; the source logs the result of its attempts itself.
 */
function kafkaLogCreator(logger: KafkaLogger): logCreator {
  return () =>
    ({ namespace, level, log }) => {
      if (level > kafkajs.logLevel.WARN) {
        return;
      }
      const { message, timestamp: _timestamp, logger: _library, ...details } = log;
      logger.debug({ kafkajs: namespace, ...details }, `kafkajs: ${message}`);
    };
}
