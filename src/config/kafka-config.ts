import type { KafkaConnection, KafkaCredentials } from '../../ingest/kafka/kafka-connection.ts';
import { type KafkaTls, KafkaTlsError, readKafkaTls } from '../../ingest/kafka/kafka-tls.ts';
import type { KafkaConfigValues } from './kafka-config-table.ts';

/** null: not set; absent: set to something that is not allowed, which is told already. */
type Values = Partial<KafkaConfigValues>;

function signInFaults(values: Values): string[] {
  const { kafkaSaslMechanism: mechanism } = values;
  if (mechanism === undefined) return [];
  const byPassword = { KAFKA_SASL_USERNAME: values.kafkaSaslUsername, KAFKA_SASL_PASSWORD: values.kafkaSaslPassword };
  const byToken = {
    KAFKA_SASL_OAUTH_TOKEN_URL: values.kafkaOAuthTokenUrl,
    KAFKA_SASL_OAUTH_CLIENT_ID: values.kafkaOAuthClientId,
    KAFKA_SASL_OAUTH_CLIENT_SECRET: values.kafkaOAuthClientSecret,
  };
  const optional = { KAFKA_SASL_OAUTH_SCOPE: values.kafkaOAuthScope };
  const names = (given: object, isWanted: (value: unknown) => boolean): string[] =>
    Object.entries(given).flatMap(([name, value]) => (isWanted(value) ? [name] : []));
  const isSet = (value: unknown): boolean => value !== null;
  const isUnset = (value: unknown): boolean => value === null;
  if (mechanism === null) {
    const stray = names({ ...byPassword, ...byToken, ...optional }, isSet);
    if (stray.length === 0) return [];
    const [verb, together] = stray.length === 1 ? ['is', 'both'] : ['are', 'all'];
    return [`KAFKA_SASL_MECHANISM is not set, but ${stray.join(', ')} ${verb} set; allowed: ${together}, or none`];
  }
  const [needed, others] = mechanism === 'oauthbearer' ? [byToken, byPassword] : [byPassword, { ...byToken, ...optional }];
  return [
    ...names(needed, isUnset).map(
      (name) => `${name} is not set; allowed: ${Object.keys(needed).join(', ')} all with KAFKA_SASL_MECHANISM=${mechanism}`,
    ),
    ...names(others, isSet).map(
      (name) => `${name} is set, but KAFKA_SASL_MECHANISM=${mechanism} has no use for it; allowed: ${Object.keys(needed).join(', ')}`,
    ),
  ];
}

function tlsOf(values: Values): KafkaTls {
  return {
    caFile: values.kafkaTlsCaFile ?? null,
    certFile: values.kafkaTlsCertFile ?? null,
    keyFile: values.kafkaTlsKeyFile ?? null,
    keyPassphrase: values.kafkaTlsKeyPassphrase ?? null,
  };
}

function tlsFaults(values: Values): string[] {
  const { kafkaTls } = values;
  const tls = tlsOf(values);
  const files = { KAFKA_TLS_CA_FILE: tls.caFile, KAFKA_TLS_CERT_FILE: tls.certFile, KAFKA_TLS_KEY_FILE: tls.keyFile };
  const faults: string[] = [];
  if (kafkaTls === false) {
    const given = Object.entries(files).flatMap(([name, path]) => (path === null ? [] : [name]));
    faults.push(...given.map((name) => `${name} is set, but not KAFKA_TLS; allowed: with KAFKA_TLS=true`));
  }
  const both = 'allowed: KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE both, or none';
  if (values.kafkaTlsCertFile === null && tls.keyFile !== null) faults.push(`KAFKA_TLS_CERT_FILE is not set; ${both}`);
  if (values.kafkaTlsKeyFile === null && tls.certFile !== null) faults.push(`KAFKA_TLS_KEY_FILE is not set; ${both}`);
  if (values.kafkaTlsKeyFile === null && tls.keyPassphrase !== null) {
    faults.push('KAFKA_TLS_KEY_PASSPHRASE is set without KAFKA_TLS_KEY_FILE; allowed: both, or none');
  }
  try {
    // A passphrase that is wrong in itself is told already, and does not make the key wrong as well.
    readKafkaTls(values.kafkaTlsKeyPassphrase === undefined ? { ...tls, keyFile: null } : tls);
  } catch (error) {
    if (!(error instanceof KafkaTlsError)) throw error;
    faults.push(...error.faults);
  }
  return faults;
}

/** A line for each rule about several of Kafka's settings that is broken, and for each file of theirs that is no use. */
export function kafkaConfigFaults(values: Values): string[] {
  return [...tlsFaults(values), ...signInFaults(values)];
}

function credentials(config: KafkaConfigValues): KafkaCredentials | null {
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username, kafkaSaslPassword: password } = config;
  const {
    kafkaOAuthTokenUrl: tokenUrl,
    kafkaOAuthClientId: clientId,
    kafkaOAuthClientSecret: clientSecret,
    kafkaOAuthScope: scope,
  } = config;
  if (mechanism === 'oauthbearer') {
    return tokenUrl === null || clientId === null || clientSecret === null ? null : { mechanism, tokenUrl, clientId, clientSecret, scope };
  }
  return mechanism === null || username === null || password === null ? null : { mechanism, username, password };
}

/** Null where no Kafka is configured. */
export function kafkaConnection(config: KafkaConfigValues): KafkaConnection | null {
  const { kafkaBrokers: brokers, kafkaTls } = config;
  return brokers === null ? null : { brokers, tls: kafkaTls ? tlsOf(config) : null, sasl: credentials(config) };
}
