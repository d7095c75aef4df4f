import type { KafkaConnection, KafkaCredentials } from '../../ingest/kafka/kafka-connection.ts';
import { type KafkaTls, KafkaTlsError, readKafkaTls } from '../../ingest/kafka/kafka-tls.ts';
import type { TopicEntry } from '../../ingest/kafka/kafka-topics.ts';
import {
  accept,
  type ConfigVariable,
  commaSeparated,
  oneOfAnyCase,
  type ParsedValue,
  refuse,
  someText,
  type ValuesOf,
  yesOrNo,
} from './config-value.ts';
import { isLoopbackHost } from './loopback.ts';

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

const isBroker = (item: string): boolean =>
  /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([1-9]\d{0,4})$/.test(item) && Number(item.slice(item.lastIndexOf(':') + 1)) <= 65_535;
/** Kafka's alphabet for topic names, and that of globs. An empty pair of brackets would stand for itself, which no topic has. */
const isTopicPattern = (item: string): boolean => /^[A-Za-z0-9._\-*?[\]{}()!|+@^,]{1,249}$/.test(item) && !/\[[!^]?\]|\(\)|\{\}/.test(item);

const TOPIC_ENTRY = /^([^=]*)(?:=([a-z0-9][a-z0-9_-]{0,63}))?$/i;

function parseTopics(text: string): ParsedValue<readonly TopicEntry[]> {
  const items = commaSeparated((item) => isTopicPattern(TOPIC_ENTRY.exec(item)?.[1] ?? ''))(text);
  if (items.kind === 'refused') return items;
  return accept(
    items.value.map((item) => {
      const [, pattern = '', mapping = null] = TOPIC_ENTRY.exec(item) ?? [];
      return { pattern, mapping };
    }),
  );
}

/** The client's secret is sent to it, so plain http is refused off loopback. */
function parseTokenUrl(text: string): ParsedValue<string> {
  const url = URL.parse(text);
  if (url === null) return refuse('it is no URL');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('its scheme is neither https nor http');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) return refuse('http: would send the client secret in the clear');
  if (url.username !== '' || url.password !== '') return refuse('it holds a user name or a password; these have variables of their own');
  return url.hash === '' ? accept(url.href) : refuse('it has a fragment');
}

/** The scope of RFC 6749, 3.3. */
function parseScope(text: string): ParsedValue<string> {
  return /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) ? accept(text) : refuse();
}

const NEEDS_TLS = 'needs KAFKA_TLS=true';
const NEEDS_PASSWORD_MECHANISM = 'any text; needs another KAFKA_SASL_MECHANISM than oauthbearer';
const NEEDS_OAUTH = 'needs KAFKA_SASL_MECHANISM=oauthbearer';

/** Where Kafka is, and how the program signs in there. */
export const KAFKA_CONFIG_VARIABLES = [
  {
    key: 'kafkaBrokers',
    name: 'KAFKA_BROKERS',
    default: null,
    allowed: 'host:port items separated by commas',
    about: 'Kafka to consume from; unset: none',
    parse: commaSeparated(isBroker),
  },
  {
    key: 'kafkaTopics',
    name: 'KAFKA_TOPICS',
    default: 'shield-events',
    allowed:
      'topic names or globs separated by commas, each with =NAME of a mapping behind it if its messages are records of another product',
    about: 'Topics to consume; a glob also takes topics made later, and the first entry that matches a topic counts',
    parse: parseTopics,
  },
  {
    key: 'kafkaGroupId',
    name: 'KAFKA_GROUP_ID',
    default: 'shieldlog',
    allowed: 'any text',
    about: 'Consumer group; source offsets are kept in DATA_DIR, not in the group',
    parse: someText,
  },
  { key: 'kafkaTls', name: 'KAFKA_TLS', default: 'false', allowed: 'true or false', about: 'Speak TLS to the brokers', parse: yesOrNo },
  {
    key: 'kafkaTlsCaFile',
    name: 'KAFKA_TLS_CA_FILE',
    default: null,
    allowed: `the path of a PEM file; ${NEEDS_TLS}`,
    about: "The authorities that the brokers' certificates are checked against; unset: those that Node trusts",
    parse: someText,
  },
  {
    key: 'kafkaTlsCertFile',
    name: 'KAFKA_TLS_CERT_FILE',
    default: null,
    allowed: `the path of a PEM file; ${NEEDS_TLS} and KAFKA_TLS_KEY_FILE`,
    about: 'The certificate that this program shows the brokers, with those between it and its authority',
    parse: someText,
  },
  {
    key: 'kafkaTlsKeyFile',
    name: 'KAFKA_TLS_KEY_FILE',
    default: null,
    allowed: `the path of a PEM file; ${NEEDS_TLS} and KAFKA_TLS_CERT_FILE`,
    about: 'The private key of that certificate',
    parse: someText,
  },
  {
    key: 'kafkaTlsKeyPassphrase',
    name: 'KAFKA_TLS_KEY_PASSPHRASE',
    default: null,
    allowed: 'any text; needs KAFKA_TLS_KEY_FILE',
    about: 'Opens that key, if it is encrypted',
    secret: true,
    parse: someText,
  },
  {
    key: 'kafkaSaslMechanism',
    name: 'KAFKA_SASL_MECHANISM',
    default: null,
    allowed: `${SASL_MECHANISMS.join(', ')}`,
    about: 'How to sign in to Kafka; unset: not at all',
    parse: oneOfAnyCase(SASL_MECHANISMS),
  },
  {
    key: 'kafkaSaslUsername',
    name: 'KAFKA_SASL_USERNAME',
    default: null,
    allowed: NEEDS_PASSWORD_MECHANISM,
    about: 'Who signs in to Kafka',
    parse: someText,
  },
  {
    key: 'kafkaSaslPassword',
    name: 'KAFKA_SASL_PASSWORD',
    default: null,
    allowed: NEEDS_PASSWORD_MECHANISM,
    about: 'The password of that user',
    secret: true,
    parse: someText,
  },
  {
    key: 'kafkaOAuthTokenUrl',
    name: 'KAFKA_SASL_OAUTH_TOKEN_URL',
    default: null,
    allowed: `an https: URL, or http: on loopback, without credentials and fragment; ${NEEDS_OAUTH}`,
    about: 'The endpoint that gives out access tokens for client credentials',
    parse: parseTokenUrl,
  },
  {
    key: 'kafkaOAuthClientId',
    name: 'KAFKA_SASL_OAUTH_CLIENT_ID',
    default: null,
    allowed: `any text; ${NEEDS_OAUTH}`,
    about: 'Who asks for an access token',
    parse: someText,
  },
  {
    key: 'kafkaOAuthClientSecret',
    name: 'KAFKA_SASL_OAUTH_CLIENT_SECRET',
    default: null,
    allowed: `any text; ${NEEDS_OAUTH}`,
    about: 'The secret of that client',
    secret: true,
    parse: someText,
  },
  {
    key: 'kafkaOAuthScope',
    name: 'KAFKA_SASL_OAUTH_SCOPE',
    default: null,
    allowed: `scopes separated by single blanks; ${NEEDS_OAUTH}`,
    about: 'What the access token is asked for; unset: what the endpoint gives by itself',
    parse: parseScope,
  },
] as const satisfies readonly ConfigVariable[];

export type KafkaConfigValues = ValuesOf<typeof KAFKA_CONFIG_VARIABLES>;

/** Null: not set. Absent: set to a value that was refused already. */
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
    // A refused passphrase does not make the key wrong, too.
    readKafkaTls(values.kafkaTlsKeyPassphrase === undefined ? { ...tls, keyFile: null } : tls);
  } catch (error) {
    if (!(error instanceof KafkaTlsError)) throw error;
    faults.push(...error.faults);
  }
  return faults;
}

/** A line for each broken rule about several of Kafka's settings, and for each of their files that cannot be used. */
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
