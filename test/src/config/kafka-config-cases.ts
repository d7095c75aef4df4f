import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { testCertificate } from '../sinks/test-certificate.ts';

type Texts = Readonly<Record<string, string>>;

const TLS: Texts = { KAFKA_TLS: 'true' };

/** The paths of PEM files, and settings that name them. */
interface KafkaFiles {
  readonly cert: string;
  readonly key: string;
  /** The key of another certificate. */
  readonly otherKey: string;
  /** `key`, encrypted with the passphrase `sesame`. */
  readonly locked: string;
  readonly nonsense: string;
  /** The frame of a certificate, with something else in it. */
  readonly broken: string;
  readonly absent: string;
  readonly mutual: Texts;
  /** An encrypted key, without the passphrase that opens it. */
  readonly lockedKey: Texts;
}

/** Writes the files into a folder that goes with the file of tests that calls it. */
export async function kafkaFiles(): Promise<KafkaFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'shieldlog-tls-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const fileOf = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const [own, other] = [await testCertificate(), await testCertificate()];
  const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'sesame' } as const;
  const [cert, key] = [fileOf('cert.pem', own.cert), fileOf('key.pem', own.key)];
  const locked = fileOf('locked.pem', createPrivateKey(own.key).export(encrypted).toString());
  const mutual = { ...TLS, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key };
  return {
    cert,
    key,
    otherKey: fileOf('other.pem', other.key),
    locked,
    nonsense: fileOf('nonsense.pem', 'nonsense'),
    broken: fileOf('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    absent: join(folder, 'absent.pem'),
    mutual,
    lockedKey: { ...mutual, KAFKA_TLS_KEY_FILE: locked },
  };
}

export const SASL: Texts = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'me', KAFKA_SASL_PASSWORD: 'secret word' };
export const OAUTH: Texts = {
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_SASL_OAUTH_TOKEN_URL: 'https://id.example/token',
  KAFKA_SASL_OAUTH_CLIENT_ID: 'me',
  KAFKA_SASL_OAUTH_CLIENT_SECRET: 'secret word',
};

/** Values of the variables about Kafka's certificates and tokens: taken, and as what. */
export const kafkaGood = ({
  cert,
  key,
  mutual,
  lockedKey,
}: KafkaFiles): readonly (readonly [name: string, text: string, key: string, value: unknown, besides?: Texts])[] => [
  ['KAFKA_TLS_CA_FILE', cert, 'kafkaTlsCaFile', cert, TLS],
  ['KAFKA_TLS_CERT_FILE', cert, 'kafkaTlsCertFile', cert, mutual],
  ['KAFKA_TLS_KEY_FILE', key, 'kafkaTlsKeyFile', key, mutual],
  ['KAFKA_TLS_KEY_PASSPHRASE', 'sesame', 'kafkaTlsKeyPassphrase', 'sesame', lockedKey],
  ['KAFKA_TLS_KEY_PASSPHRASE', 'of no use', 'kafkaTlsKeyPassphrase', 'of no use', mutual],
  ['KAFKA_SASL_MECHANISM', 'OAUTHBEARER', 'kafkaSaslMechanism', 'oauthbearer', OAUTH],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'https://id.example/t?a=1', 'kafkaOAuthTokenUrl', 'https://id.example/t?a=1', OAUTH],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'http://127.0.0.1:8443/t', 'kafkaOAuthTokenUrl', 'http://127.0.0.1:8443/t', OAUTH],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'http://[::1]:1/t', 'kafkaOAuthTokenUrl', 'http://[::1]:1/t', OAUTH],
  ['KAFKA_SASL_OAUTH_CLIENT_ID', 'a b', 'kafkaOAuthClientId', 'a b', OAUTH],
  ['KAFKA_SASL_OAUTH_CLIENT_SECRET', 's:t', 'kafkaOAuthClientSecret', 's:t', OAUTH],
  ['KAFKA_SASL_OAUTH_SCOPE', 'kafka events:read', 'kafkaOAuthScope', 'kafka events:read', OAUTH],
];

/** And those that stop the start. */
export const kafkaBad = ({ cert, key, mutual }: KafkaFiles): readonly (readonly [name: string, text: string, besides?: Texts])[] => [
  ['KAFKA_TLS_CA_FILE', ' ', TLS],
  ['KAFKA_TLS_CERT_FILE', ' ', { ...TLS, KAFKA_TLS_KEY_FILE: key }],
  ['KAFKA_TLS_KEY_FILE', ' ', { ...TLS, KAFKA_TLS_CERT_FILE: cert }],
  ['KAFKA_TLS_KEY_PASSPHRASE', ' ', mutual],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'id.example', OAUTH],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'ftp://id.example', OAUTH],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'http://id.example/token', OAUTH],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'https://me:word@id.example', OAUTH],
  ['KAFKA_SASL_OAUTH_TOKEN_URL', 'https://id.example/#a', OAUTH],
  ['KAFKA_SASL_OAUTH_CLIENT_ID', ' ', OAUTH],
  ['KAFKA_SASL_OAUTH_CLIENT_SECRET', ' ', OAUTH],
  ['KAFKA_SASL_OAUTH_SCOPE', 'two  blanks', OAUTH],
  ['KAFKA_SASL_OAUTH_SCOPE', 'a"b', OAUTH],
];

/** Settings that are no use together, or whose files are none, and the whole line that says so. */
export const kafkaFaults = ({
  cert,
  key,
  otherKey,
  locked,
  nonsense,
  broken,
  absent,
  mutual,
  lockedKey,
}: KafkaFiles): readonly (readonly [what: string, env: Texts, line: string])[] => [
  ['a file without TLS', { KAFKA_TLS_CA_FILE: cert }, 'KAFKA_TLS_CA_FILE is set, but not KAFKA_TLS; allowed: with KAFKA_TLS=true'],
  [
    'a key without its certificate',
    { ...TLS, KAFKA_TLS_KEY_FILE: key },
    'KAFKA_TLS_CERT_FILE is not set; allowed: KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE both, or none',
  ],
  [
    'a certificate without its key',
    { ...TLS, KAFKA_TLS_CERT_FILE: cert },
    'KAFKA_TLS_KEY_FILE is not set; allowed: KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE both, or none',
  ],
  [
    'a passphrase without a key',
    { ...TLS, KAFKA_TLS_KEY_PASSPHRASE: 'x' },
    'KAFKA_TLS_KEY_PASSPHRASE is set without KAFKA_TLS_KEY_FILE; allowed: both, or none',
  ],
  [
    'a file that is not there',
    { ...TLS, KAFKA_TLS_CA_FILE: absent },
    `KAFKA_TLS_CA_FILE="${absent}" cannot be read: no such file or directory; allowed: the path of a PEM file`,
  ],
  [
    'a file without a certificate',
    { ...TLS, KAFKA_TLS_CA_FILE: nonsense },
    `KAFKA_TLS_CA_FILE="${nonsense}" holds no certificate; allowed: certificates as PEM, -----BEGIN CERTIFICATE-----`,
  ],
  [
    'a file with something else as its certificate',
    { ...TLS, KAFKA_TLS_CA_FILE: broken },
    `KAFKA_TLS_CA_FILE="${broken}" holds something else as certificate 1 of 1; allowed: certificates as PEM`,
  ],
  [
    'a file without a key',
    { ...mutual, KAFKA_TLS_KEY_FILE: nonsense },
    `KAFKA_TLS_KEY_FILE="${nonsense}" holds no private key; allowed: a private key as PEM, such as -----BEGIN PRIVATE KEY-----`,
  ],
  [
    'an encrypted key without a passphrase',
    lockedKey,
    `KAFKA_TLS_KEY_FILE="${locked}" is encrypted; set KAFKA_TLS_KEY_PASSPHRASE, or give a key that is not`,
  ],
  [
    'an encrypted key with another passphrase',
    { ...lockedKey, KAFKA_TLS_KEY_PASSPHRASE: 'other' },
    `KAFKA_TLS_KEY_FILE="${locked}" cannot be opened with KAFKA_TLS_KEY_PASSPHRASE`,
  ],
  [
    'the key of another certificate',
    { ...mutual, KAFKA_TLS_KEY_FILE: otherKey },
    `KAFKA_TLS_KEY_FILE="${otherKey}" is not the key of KAFKA_TLS_CERT_FILE="${cert}"; ` +
      'allowed: the key of the first certificate in that file',
  ],
  [
    'a password without a mechanism',
    { KAFKA_SASL_PASSWORD: 'x' },
    'KAFKA_SASL_MECHANISM is not set, but KAFKA_SASL_PASSWORD is set; allowed: both, or none',
  ],
  [
    'a user name and a password without a mechanism',
    { KAFKA_SASL_USERNAME: 'me', KAFKA_SASL_PASSWORD: 'x' },
    'KAFKA_SASL_MECHANISM is not set, but KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD are set; allowed: all, or none',
  ],
  [
    'a password beside a token',
    { ...OAUTH, KAFKA_SASL_PASSWORD: 'x' },
    'KAFKA_SASL_PASSWORD is set, but KAFKA_SASL_MECHANISM=oauthbearer has no use for it; ' +
      'allowed: KAFKA_SASL_OAUTH_TOKEN_URL, KAFKA_SASL_OAUTH_CLIENT_ID, KAFKA_SASL_OAUTH_CLIENT_SECRET',
  ],
  [
    'a scope beside a password',
    { ...SASL, KAFKA_SASL_OAUTH_SCOPE: 'x' },
    'KAFKA_SASL_OAUTH_SCOPE is set, but KAFKA_SASL_MECHANISM=plain has no use for it; allowed: KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD',
  ],
];
