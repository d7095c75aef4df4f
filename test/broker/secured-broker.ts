import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePorts } from './free-port.ts';
import { startJarBroker } from './jar-broker.ts';
import type { KafkaBroker } from './kafka-broker.ts';
import { findKafka } from './kafka-distribution.ts';
import { type TestAuthority, testAuthority } from './test-authority.ts';

/** Listeners beside the plain one, whose users may do everything. SASL_SSL of its own kind each, or TLS alone. */
const LISTENERS = {
  /** TLS and a user name with a password, or an access token. */
  SIGNIN: 'SASL_SSL',
  /** TLS with a client certificate. */
  MUTUAL: 'SSL',
  /** TLS with a certificate that has expired, and one that is for another host. */
  EXPIRED: 'SSL',
  OTHERNAME: 'SSL',
} as const;
type Listener = keyof typeof LISTENERS;

export const USERS = { alice: 'alice-secret', bob: 'bob-secret' } as const;

export interface SecuredBroker extends KafkaBroker {
  readonly authority: TestAuthority;
  /** `localhost:port` of each listener. */
  readonly listeners: Readonly<Record<Listener, string>>;
  /** A folder for files of tests; it goes with the broker. */
  readonly folder: string;
  /** The path of a file with this content. */
  file(name: string, content: string): string;
  /** An access token that the broker takes, or one that is signed by somebody else. */
  token(subject: string, lifetimeS: number, signer?: 'ours' | 'another'): string;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * A broker with TLS, sign-in, and rights on topics and groups. It needs the jars: settings like these cannot be had of a broker that runs
 * already.
 */
export async function startSecuredBroker(): Promise<SecuredBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'shieldlog-secured-'));
  const file = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const authority = await testAuthority('CN=shieldlog test authority');
  const localhost = [{ type: 'dns', value: 'localhost' } as const];
  const certificates = {
    SIGNIN: await authority.issue('CN=broker', { names: localhost }),
    MUTUAL: await authority.issue('CN=broker', { names: localhost }),
    EXPIRED: await authority.issue('CN=broker', { names: localhost, expiresInMs: -60_000 }),
    OTHERNAME: await authority.issue('CN=broker', { names: [{ type: 'dns', value: 'kafka.other.example' }] }),
  };
  const signers = {
    ours: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    another: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  };
  const jwks = { keys: [{ ...signers.ours.publicKey.export({ format: 'jwk' }), kid: 'test', use: 'sig', alg: 'RS256' }] };
  const jwksUrl = pathToFileURL(file('jwks.json', JSON.stringify(jwks))).href;
  const names = Object.keys(LISTENERS) as Listener[];
  const ports = await freePorts(names.length);
  const addresses = names.map((name, index) => [name, `localhost:${ports[index]}`] as const);
  const urls = addresses.map(([name, address]) => `${name}://${address}`);
  const truststore = file('authority.pem', authority.cert);
  const login = (mechanism: string, entries: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(entries).map(([name, value]) => [`listener.name.signin.${mechanism}.${name}`, value]));
  const broker = await startJarBroker(await findKafka(), {
    settings: (port, controllerPort) => ({
      listeners: [`PLAINTEXT://127.0.0.1:${port}`, `CONTROLLER://127.0.0.1:${controllerPort}`, ...urls].join(','),
      'advertised.listeners': [`PLAINTEXT://127.0.0.1:${port}`, ...urls].join(','),
      'inter.broker.listener.name': 'PLAINTEXT',
      'listener.security.protocol.map': [
        'PLAINTEXT:PLAINTEXT',
        'CONTROLLER:PLAINTEXT',
        ...Object.entries(LISTENERS).map((pair) => pair.join(':')),
      ].join(','),
      ...Object.fromEntries(
        names.flatMap((name) => {
          const prefix = `listener.name.${name.toLowerCase()}.ssl`;
          const { cert, key } = certificates[name];
          return [
            [`${prefix}.keystore.type`, 'PEM'],
            [`${prefix}.keystore.location`, file(`${name}.pem`, `${key}${cert}`)],
            [`${prefix}.truststore.type`, 'PEM'],
            [`${prefix}.truststore.location`, truststore],
          ];
        }),
      ),
      'listener.name.mutual.ssl.client.auth': 'required',
      'listener.name.signin.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,OAUTHBEARER',
      ...login('plain', {
        'sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required ${Object.entries(USERS)
          .map(([name, password]) => `user_${name}="${password}"`)
          .join(' ')};`,
      }),
      ...login('scram-sha-256', { 'sasl.jaas.config': 'org.apache.kafka.common.security.scram.ScramLoginModule required;' }),
      ...login('oauthbearer', {
        'sasl.jaas.config': 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;',
        'sasl.server.callback.handler.class': 'org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler',
        'sasl.oauthbearer.jwks.endpoint.url': jwksUrl,
        'sasl.oauthbearer.expected.audience': 'kafka',
        // A session lasts no longer than its token, and is cut off where it is not renewed.
        'connections.max.reauth.ms': '3600000',
      }),
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    }),
    formatArgs: Object.entries(USERS).flatMap(([name, password]) => ['--add-scram', `SCRAM-SHA-256=[name=${name},password=${password}]`]),
    jvmOptions: [`-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${jwksUrl}`],
  });
  return {
    ...broker,
    authority,
    listeners: Object.fromEntries(addresses) as Record<Listener, string>,
    folder,
    file,
    token: (subject, lifetimeS, signer = 'ours') => {
      const nowS = Math.floor(Date.now() / 1_000);
      const head = base64url({ alg: 'RS256', typ: 'JWT', kid: 'test' });
      const claims = base64url({ sub: subject, aud: 'kafka', iat: nowS, exp: nowS + lifetimeS, scope: 'kafka' });
      const signature = sign('sha256', Buffer.from(`${head}.${claims}`), signers[signer].privateKey).toString('base64url');
      return `${head}.${claims}.${signature}`;
    },
    stop: async () => {
      await broker.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
