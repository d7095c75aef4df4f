import kafkajs, { type Kafka, type KafkaConfig, type SASLOptions } from 'kafkajs';
import type { StoreLogger } from '../store/store-logger.ts';
import { kafkaLogCreator } from './kafka-log.ts';

/** How to reach the brokers. `brokers` are `host:port`; TLS checks the certificate against the system's authorities. */
export interface KafkaConnection {
  readonly brokers: readonly string[];
  readonly tls: boolean;
  readonly sasl: KafkaCredentials | null;
}

export interface KafkaCredentials {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

/**
 * A kafkajs client. Its own retries are short: the source starts over from the beginning when they are used up, for ever, and wants to say
 * soon what is wrong.
 */
export function createKafkaClient(connection: KafkaConnection, clientId: string, logger: StoreLogger): Kafka {
  const config: KafkaConfig = {
    clientId,
    brokers: [...connection.brokers],
    ssl: connection.tls,
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 },
    logLevel: kafkajs.logLevel.INFO,
    logCreator: kafkaLogCreator(logger),
  };
  return new kafkajs.Kafka(connection.sasl === null ? config : { ...config, sasl: { ...connection.sasl } as SASLOptions });
}
