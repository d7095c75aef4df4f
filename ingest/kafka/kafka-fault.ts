import type { KafkaConnection, KafkaCredentials } from './kafka-connection.ts';

/** What a running source was asked for cannot be done; the message is one line that says why, and what is allowed. */
export class KafkaRefused extends Error {
  override readonly name = 'KafkaRefused';
}

/** The informative parts of kafkajs's and Node's errors. */
interface Fault {
  readonly name: string;
  readonly message: string;
  /** Node's code of a connection error. */
  readonly code?: unknown;
  /** Kafka's name of an error in an answer. */
  readonly type?: unknown;
  readonly broker?: unknown;
  readonly cause?: unknown;
}

/** The error that kafkajs wraps when its retries are used up. */
export function innermost(error: Error): Fault {
  let fault: Error = error;
  for (let depth = 0; fault.cause instanceof Error && fault.name.startsWith('KafkaJS') && depth < 10; depth++) fault = fault.cause;
  return fault;
}

const UNTRUSTED = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
];

/** Says what failed in TLS and what to do; null for other errors. `code` is Node's or OpenSSL's. */
function tlsFault(code: string, message: string, { tls }: KafkaConnection): string | null {
  if (UNTRUSTED.includes(code)) {
    const { caFile = null } = tls ?? {};
    const todo =
      caFile === null
        ? 'set KAFKA_TLS_CA_FILE to the PEM file of the authority that issued it'
        : `KAFKA_TLS_CA_FILE=${JSON.stringify(caFile)} is not, or lacks, the authority that issued it`;
    return `the broker's certificate is not trusted (${code}): ${todo}`;
  }
  if (code === 'CERT_HAS_EXPIRED') return "the broker's certificate, or its authority's, has expired: renew it";
  if (code === 'CERT_NOT_YET_VALID') return "the broker's certificate, or its authority's, is not valid yet: check the clocks";
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const why = message.replace(/^.*? altnames: /s, '');
    const todo = "use a name of the certificate in KAFKA_BROKERS and in the broker's advertised.listeners";
    return `the broker's certificate is for another name: ${why}; ${todo}`;
  }
  if (
    code === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    /before secure TLS connection was established/.test(message) ||
    code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  ) {
    return 'the broker does not speak TLS at that port: set KAFKA_TLS=false, or take the port of its TLS listener';
  }
  const alert = /^ERR_SSL_(?:TLSV1|TLSV13|SSLV3|SSL\/TLS)_ALERT_(\w+)$/.exec(code)?.[1];
  if (alert === undefined) return null;
  const words = alert.toLowerCase().replaceAll('_', ' ');
  if (!/certificate|unknown ca|handshake failure/.test(words)) return `the broker ended the TLS handshake (${words})`;
  const { certFile = null } = tls ?? {};
  if (certFile === null) return `the broker wants a client certificate (${words}): set KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE`;
  const required = 'it has to be unexpired and of an authority that the broker trusts';
  return `the broker refuses the client certificate KAFKA_TLS_CERT_FILE=${JSON.stringify(certFile)} (${words}): ${required}`;
}

function unsupportedMechanism({ mechanism }: KafkaCredentials): string {
  return `the broker does not take KAFKA_SASL_MECHANISM=${mechanism}: set it to a mechanism of that listener`;
}

function signInFault(fault: Fault, { sasl }: KafkaConnection): string {
  const why = fault.message.replace(/^SASL [\w-]+ authentication failed: /, '').replace(/^Authentication failed: /, '');
  if (sasl === null) return `the broker wants a sign-in: set KAFKA_SASL_MECHANISM (${why})`;
  if (/mechanism is not supported/.test(why)) return unsupportedMechanism(sasl);
  if (sasl.mechanism === 'oauthbearer') {
    const todo = "check its issuer, audience and scope against the broker's settings";
    return `the broker refuses the access token of KAFKA_SASL_OAUTH_TOKEN_URL (${why}): ${todo}`;
  }
  const todo = `check that name, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM=${sasl.mechanism}`;
  return `the broker refuses the sign-in of KAFKA_SASL_USERNAME=${JSON.stringify(sasl.username)} (${why}): ${todo}`;
}

/** The principal that the brokers probably see, for their access rules. */
function principal({ sasl, tls }: KafkaConnection): string {
  if (sasl?.mechanism === 'oauthbearer') return `the OAuth client ${JSON.stringify(sasl.clientId)}`;
  if (sasl !== null) return `User:${sasl.username}`;
  return tls?.certFile ? 'the subject of the client certificate' : 'User:ANONYMOUS';
}

export function deniedTopic(topics: readonly string[], connection: KafkaConnection): string {
  return `no right on the Kafka topic ${topics.join(', ')}: allow ${principal(connection)} the operations READ and DESCRIBE on it`;
}

function grantGroup(connection: KafkaConnection): string {
  return `allow ${principal(connection)} the operation READ on it, or set KAFKA_GROUP_ID to one that it may use`;
}

function deniedGroup(groupId: string, connection: KafkaConnection): string {
  return `no right on the Kafka consumer group ${groupId}: ${grantGroup(connection)}`;
}

/** Line ends of every kind, with the blanks around them. */
const LINE_ENDS = /\s*[\r\n\v\f\u0085\u2028\u2029][\s\u0085]*/g;

/** Says what failed and what to do about it, in one line without secrets. */
export function explainKafkaFault(error: Error, connection: KafkaConnection, groupId: string, topics: readonly string[]): string {
  return explain(error, connection, groupId, topics).replaceAll(LINE_ENDS, ' ');
}

/** May have several lines, from texts of brokers and certificates. */
function explain(error: Error, connection: KafkaConnection, groupId: string, topics: readonly string[]): string {
  const fault = innermost(error);
  const broker = typeof fault.broker === 'string' ? `${fault.broker}: ` : '';
  if (fault.type === 'TOPIC_AUTHORIZATION_FAILED') return deniedTopic(topics, connection);
  if (fault.type === 'UNSUPPORTED_SASL_MECHANISM' && connection.sasl !== null) return unsupportedMechanism(connection.sasl);
  if (fault.type === 'GROUP_AUTHORIZATION_FAILED') return deniedGroup(groupId, connection);
  if (
    fault.name === 'KafkaJSSASLAuthenticationError' ||
    fault.name === 'KafkaTokenRefused' ||
    fault.type === 'SASL_AUTHENTICATION_FAILED'
  ) {
    return signInFault(fault, connection);
  }
  const tls = typeof fault.code === 'string' ? tlsFault(fault.code, fault.message, connection) : null;
  if (tls !== null) return `${broker}${tls}`;
  // kafkajs does not say why a broker names no coordinator. The one reason that lasts is a missing right.
  if (fault.name === 'KafkaJSGroupCoordinatorNotFound') {
    const todo = `${grantGroup(connection)}; brokers that have just started name one after a while`;
    return `no broker names a coordinator of the Kafka consumer group ${groupId}: ${todo}`;
  }
  if (fault.name === 'KafkaJSConnectionClosedError') {
    return `${broker}the broker closed the connection: check that KAFKA_TLS and KAFKA_SASL_MECHANISM are what that listener wants`;
  }
  return `${broker}${fault.message}`;
}
