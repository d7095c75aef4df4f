import { accept, listOf, oneOf, type ParsedValue, refuse, someText, yesOrNo } from './config-value.ts';
import type { ConfigVariable } from './config-variable.ts';
import { isLoopbackHost } from './loopback.ts';

export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

export interface KafkaConfigValues {
  readonly kafkaBrokers: readonly string[] | null;
  readonly kafkaTopics: readonly string[];
  readonly kafkaGroupId: string;
  readonly kafkaTls: boolean;
  readonly kafkaTlsCaFile: string | null;
  readonly kafkaTlsCertFile: string | null;
  readonly kafkaTlsKeyFile: string | null;
  readonly kafkaTlsKeyPassphrase: string | null;
  readonly kafkaSaslMechanism: (typeof SASL_MECHANISMS)[number] | null;
  readonly kafkaSaslUsername: string | null;
  readonly kafkaSaslPassword: string | null;
  readonly kafkaOAuthTokenUrl: string | null;
  readonly kafkaOAuthClientId: string | null;
  readonly kafkaOAuthClientSecret: string | null;
  readonly kafkaOAuthScope: string | null;
}

type KafkaVariable = { [K in keyof KafkaConfigValues]: ConfigVariable<K, NonNullable<KafkaConfigValues[K]>> }[keyof KafkaConfigValues];

const isBroker = (item: string): boolean =>
  /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([1-9]\d{0,4})$/.test(item) && Number(item.slice(item.lastIndexOf(':') + 1)) <= 65_535;
/** Kafka's own alphabet for topic names, and what globs add to it; an empty pair of brackets would stand for itself, which no topic has. */
const isTopicPattern = (item: string): boolean => /^[A-Za-z0-9._\-*?[\]{}()!|+@^,]{1,249}$/.test(item) && !/\[[!^]?\]|\(\)|\{\}/.test(item);

/** The client's secret goes to it, so that it is not spoken to in the clear. */
function parseTokenUrl(text: string): ParsedValue<string> {
  const url = URL.parse(text);
  if (url === null) return refuse('it is no URL');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('its scheme is neither https nor http');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) return refuse('http: would send the client secret in the clear');
  if (url.username !== '' || url.password !== '') return refuse('it holds a user name or a password; these have variables of their own');
  return url.hash === '' ? accept(url.href) : refuse('it has a fragment');
}

/** What RFC 6749 (3.3) allows. */
function parseScope(text: string): ParsedValue<string> {
  return /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) ? accept(text) : refuse();
}

const NEEDS_TLS = 'needs KAFKA_TLS=true';
const NEEDS_PASSWORD_MECHANISM = 'any text; needs another KAFKA_SASL_MECHANISM than oauthbearer';
const NEEDS_OAUTH = 'needs KAFKA_SASL_MECHANISM=oauthbearer';

/** Where Kafka is, and how this program shows who it is. */
export const KAFKA_CONFIG_VARIABLES: readonly KafkaVariable[] = [
  {
    key: 'kafkaBrokers',
    name: 'KAFKA_BROKERS',
    default: null,
    allowed: 'host:port items separated by commas',
    about: 'Kafka to consume from; unset: none',
    parse: listOf(isBroker),
  },
  {
    key: 'kafkaTopics',
    name: 'KAFKA_TOPICS',
    default: 'shield-events',
    allowed: 'topic names or globs separated by commas',
    about: 'Topics to consume; a glob also takes topics made later',
    parse: listOf(isTopicPattern),
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
    parse: oneOf(SASL_MECHANISMS),
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
];
