import { describe, expect, it } from 'vitest';
import type { KafkaConnection, KafkaCredentials } from '../../../ingest/kafka/kafka-connection.ts';
import { explainKafkaFault } from '../../../ingest/kafka/kafka-fault.ts';

const TLS = { caFile: '/two  blanks/ca.pem', certFile: null, keyFile: null, keyPassphrase: null };
const PLAIN: KafkaCredentials = { mechanism: 'plain', username: 'alice', password: 'secret' };
const OAUTH: KafkaCredentials = {
  mechanism: 'oauthbearer',
  tokenUrl: 'https://id.example/token',
  clientId: 'me',
  clientSecret: 'secret',
  scope: null,
};

const explain = (fault: object, sasl: KafkaCredentials | null): string => {
  const connection: KafkaConnection = { brokers: ['127.0.0.1:9093'], tls: TLS, sasl };
  return explainKafkaFault(Object.assign(new Error(), fault), connection, 'group', ['events']);
};

/** Errors as kafkajs and Node make them, which hold the words of a broker or of its certificate at `WORDS`. */
const FAULTS: readonly (readonly [what: string, fault: object, sasl: KafkaCredentials | null, line: string])[] = [
  [
    'a sign-in that is refused',
    { name: 'KafkaJSSASLAuthenticationError', message: 'SASL PLAIN authentication failed: WORDS' },
    PLAIN,
    'the broker refuses the sign-in of KAFKA_SASL_USERNAME="alice" (WORDS): ' +
      'check that name, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM=plain',
  ],
  [
    'an access token that is refused',
    { name: 'KafkaTokenRefused', message: 'WORDS' },
    OAUTH,
    'the broker refuses the access token of KAFKA_SASL_OAUTH_TOKEN_URL (WORDS): ' +
      "check its issuer, audience and scope against the broker's settings",
  ],
  [
    'a sign-in that is wanted',
    { name: 'KafkaJSProtocolError', type: 'SASL_AUTHENTICATION_FAILED', message: 'WORDS' },
    null,
    'the broker wants a sign-in: set KAFKA_SASL_MECHANISM (WORDS)',
  ],
  [
    'a certificate for another name',
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: "Hostname/IP does not match certificate's altnames: WORDS" },
    PLAIN,
    "the broker's certificate is for another name: WORDS; " +
      "use a name of the certificate in KAFKA_BROKERS and in the broker's advertised.listeners",
  ],
  ['anything else', { name: 'KafkaJSError', broker: 'b:1', message: 'WORDS' }, PLAIN, 'b:1: WORDS'],
];

const LINE_ENDS = ['\n', '\r\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029', ' \n\n\t'];

describe('what a broker refuses is one line, whatever its words hold:', () => {
  it.each(FAULTS)('%s', (_what, fault, sasl, line) => {
    for (const end of LINE_ENDS) {
      const message = (fault as Error).message.replace('WORDS', `no${end}way`);
      expect(explain({ ...fault, message }, sasl)).toBe(line.replace('WORDS', 'no way'));
    }
  });

  it('a path keeps its blanks', () => {
    const line = explain({ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, PLAIN);
    expect(line).toContain('KAFKA_TLS_CA_FILE="/two  blanks/ca.pem" is not');
  });
});
