import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { eventMessage } from './event-file.ts';
import { ownProducer, sendValues } from './own-producer.ts';
import { startProgramProcess, totalOverHttp } from './program-under-test.ts';
import { type SecuredBroker, startSecuredBroker, USERS } from './secured-broker.ts';
import { expectTrouble, sourceOf } from './secured-source.ts';
import { allow, disallow, group, type Settings, topics, waysToSignIn } from './secured-ways.ts';
import { untilReady, untilStored } from './source-under-test.ts';
import { testAuthority } from './test-authority.ts';
import { uniqueName } from './test-topic.ts';
import { sendJson, tokenEndpoint } from './token-endpoint.ts';
import { until } from './until.ts';

let broker: SecuredBroker;
/** Settings that read the open topic, by how they sign in. */
let ways: Readonly<Record<string, Settings>>;

beforeAll(async () => {
  broker = await startSecuredBroker();
  ways = await waysToSignIn(broker);
}, 300_000);
afterAll(() => broker.stop());

function way(name: string, changes: Settings = {}): Settings {
  const { [name]: settings } = ways;
  if (settings === undefined) throw new Error(`there is no way ${name}`);
  return { ...settings, ...changes };
}

async function sendOne(id: string, topic = topics.open): Promise<void> {
  await sendValues(await ownProducer(broker.address), topic, [eventMessage(id)]);
}

describe('a broker with TLS and rights', () => {
  test.each(['plain', 'scram-sha-256', 'mutual TLS', 'mutual TLS with an encrypted key'])('is read from with %s', async (name) => {
    const { source, store } = await sourceOf(way(name));
    await sendOne(uniqueName('event'));
    await untilStored(store, 1);
    await untilReady(source);
  });

  test('is read from by the whole program, whose password stands in a file', async () => {
    const { KAFKA_SASL_PASSWORD: password = '', ...settings } = way('plain');
    const dataDir = temporaryFolder();
    const file = broker.file('password', `${password}\n`);
    const program = startProgramProcess({ ...settings, KAFKA_SASL_PASSWORD_FILE: file, DATA_DIR: dataDir });
    const address = await program.address;
    const event = JSON.stringify({ logId: uniqueName('event'), shieldZoneId: 7, timestamp: Date.now() });
    await sendValues(await ownProducer(broker.address), topics.open, [Buffer.from(event)]);
    await until(
      'readiness',
      async () => (await fetch(`${address}/readyz`)).status,
      (status) => status === 200,
    );
    await until(
      'the event',
      () => totalOverHttp(address, 7),
      (total) => total > 0,
    );
    expect(await program.kill('SIGTERM')).toBe(0);
  });
});

describe('what is wrong is named, with what to do, in the log and in /readyz:', () => {
  test('a password', async () => {
    for (const name of ['plain', 'scram-sha-256']) {
      const line = await expectTrouble(
        way(name, { KAFKA_SASL_PASSWORD: 'wrong' }),
        'the broker refuses the sign-in of KAFKA_SASL_USERNAME="alice"',
      );
      expect(line).toContain('check that name, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM=');
    }
  });

  test('a mechanism', async () => {
    const words = 'the broker does not take KAFKA_SASL_MECHANISM=scram-sha-512: set it to a mechanism of that listener';
    await expectTrouble(way('plain', { KAFKA_SASL_MECHANISM: 'scram-sha-512' }), words);
  });

  test('an authority that is not ours', async () => {
    const other = await testAuthority('CN=another authority');
    const words = /the broker's certificate is not trusted \(\w+\): KAFKA_TLS_CA_FILE=".*other-ca.pem" is not, or lacks, the authority/;
    await expectTrouble(way('plain', { KAFKA_TLS_CA_FILE: broker.file('other-ca.pem', other.cert) }), words);
  });

  test('no authority', async () => {
    const words = /the broker's certificate is not trusted \(\w+\): set KAFKA_TLS_CA_FILE to the PEM file/;
    await expectTrouble(way('plain', { KAFKA_TLS_CA_FILE: '' }), words);
  });

  test('a broker whose certificate has expired', async () => {
    const settings = way('mutual TLS', { KAFKA_BROKERS: broker.listeners.EXPIRED });
    await expectTrouble(settings, "the broker's certificate, or its authority's, has expired: renew it");
  });

  test('a broker whose certificate is for another host', async () => {
    const settings = way('mutual TLS', { KAFKA_BROKERS: broker.listeners.OTHERNAME });
    await expectTrouble(
      settings,
      /the broker's certificate is for another name: Host: localhost\. is not in the cert's altnames: DNS:kafka\.other\.example/,
    );
  });

  test('no client certificate', async () => {
    const settings = way('mutual TLS', { KAFKA_TLS_CERT_FILE: '', KAFKA_TLS_KEY_FILE: '' });
    await expectTrouble(settings, /the broker wants a client certificate \(.+\): set KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE/);
  });

  test.each([
    ['of another authority', async () => (await testAuthority('CN=another authority')).issue('CN=client')],
    ['that has expired', async () => broker.authority.issue('CN=client', { expiresInMs: -60_000 })],
  ])('a client certificate %s', async (_what, issue) => {
    const { cert, key } = await issue();
    const name = uniqueName('refused');
    const files = { KAFKA_TLS_CERT_FILE: broker.file(`${name}.pem`, cert), KAFKA_TLS_KEY_FILE: broker.file(`${name}.key`, key) };
    await expectTrouble(
      way('mutual TLS', files),
      /the broker refuses the client certificate KAFKA_TLS_CERT_FILE=".*refused-\w+\.pem" \(.+\): it has to be/,
    );
  });

  test('TLS to a port that speaks none', async () => {
    const words = 'the broker does not speak TLS at that port: set KAFKA_TLS=false';
    await expectTrouble(way('plain', { KAFKA_BROKERS: broker.address }), words);
  });

  test('no TLS to a port that wants it', async () => {
    const settings = { KAFKA_BROKERS: broker.listeners.SIGNIN, KAFKA_TOPICS: topics.open };
    await expectTrouble(settings, /the broker closed the connection: check that KAFKA_TLS and KAFKA_SASL_MECHANISM/);
  });

  test('no right on the group', async () => {
    const settings = way('plain', { KAFKA_SASL_USERNAME: 'bob', KAFKA_SASL_PASSWORD: USERS.bob });
    await expectTrouble(settings, new RegExp(`the Kafka consumer group ${group}-\\w+: allow User:bob the operation READ on it`));
  });

  test('no right on the topic, also where others are read', async () => {
    const words = `no right on the Kafka topic ${topics.closed}: allow User:alice the operations READ and DESCRIBE on it`;
    await expectTrouble(way('plain', { KAFKA_TOPICS: topics.closed }), words);
    await expectTrouble(way('plain', { KAFKA_TOPICS: `${topics.open},${topics.closed}` }), words);
  });
});

describe('a topic that does not exist', () => {
  test('is told from one without a right by the rights of the moment, while another topic is read', async () => {
    const absent = uniqueName('absent');
    const { source } = await sourceOf(way('plain', { KAFKA_TOPICS: `${topics.open},${absent}` }));
    const reasonsBecome = (line: string): Promise<unknown> =>
      until(
        line,
        () => source.reasonsNotReady(),
        (reasons) => String(reasons) === line,
      );
    const denied = `no right on the Kafka topic ${absent}: allow User:alice the operations READ and DESCRIBE on it`;
    await reasonsBecome(denied);
    await allow(broker, 'User:alice', 'TOPIC', absent, ['READ', 'DESCRIBE']);
    await reasonsBecome(`no Kafka topic is named ${absent}`);
    await disallow(broker, 'User:alice', 'TOPIC', absent, ['READ', 'DESCRIBE']);
    await reasonsBecome(denied);
    expect(source.complaints).toEqual([denied, denied]);
    expect(source.counters().reconnects).toBe(0);
  });
});

describe('a topic that may be described and not read', () => {
  test('is named in the log and in /readyz', async () => {
    const words = `no right on the Kafka topic ${topics.describeOnly}: allow User:alice`;
    await expectTrouble(way('plain', { KAFKA_TOPICS: topics.describeOnly }), words);
  });
});

describe('SASL oauthbearer', () => {
  const oauth = (url: string, changes: Settings = {}): Settings => {
    const { KAFKA_SASL_USERNAME: _user, KAFKA_SASL_PASSWORD: _password, ...settings } = way('plain');
    return {
      ...settings,
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_SASL_OAUTH_TOKEN_URL: url,
      KAFKA_SASL_OAUTH_CLIENT_ID: 'the client',
      KAFKA_SASL_OAUTH_CLIENT_SECRET: 'its:secret',
      KAFKA_SASL_OAUTH_SCOPE: 'events:read kafka',
      ...changes,
    };
  };
  const grant = (lifetimeS: number, signer?: 'ours' | 'another') => ({
    access_token: broker.token('service', lifetimeS, signer),
    token_type: 'Bearer',
    expires_in: lifetimeS,
  });

  test('reads with a token of the client credentials grant, asked for once by all connections', async () => {
    const endpoint = await tokenEndpoint((response) => sendJson(response, 200, grant(3_600)));
    const { source, store } = await sourceOf(oauth(endpoint.url));
    await sendOne(uniqueName('event'));
    await untilStored(store, 1);
    await untilReady(source);
    const authorization = `Basic ${Buffer.from('the+client:its%3Asecret').toString('base64')}`;
    expect(endpoint.asked).toEqual([{ authorization, form: { grant_type: 'client_credentials', scope: 'events:read kafka' } }]);
  });

  test('renews the token before it expires, and the connections with it', async () => {
    // A session of the broker's ends with its token.
    const endpoint = await tokenEndpoint((response) => sendJson(response, 200, grant(20)));
    const { source, store } = await sourceOf(oauth(endpoint.url));
    await untilReady(source);
    await until(
      'the third token',
      () => endpoint.asked.length,
      (asked) => asked >= 3,
    );
    const before = (await store.stats()).events;
    await sendOne(uniqueName('event'));
    await untilStored(store, before + 1);
    await untilReady(source);
    expect(source.counters().reconnects).toBe(0);
    expect(source.complaints).toEqual([]);
  });

  test('is refused with a token that the broker does not take, and says so', async () => {
    const endpoint = await tokenEndpoint((response) => sendJson(response, 200, grant(3_600, 'another')));
    await expectTrouble(
      oauth(endpoint.url),
      /the broker refuses the access token of KAFKA_SASL_OAUTH_TOKEN_URL \(.*invalid_token.*\): check its issuer/,
    );
  });

  test('names the token endpoint and its status where it refuses the client', async () => {
    const endpoint = await tokenEndpoint((response) => sendJson(response, 401, { error: 'invalid_client' }));
    const line = await expectTrouble(oauth(endpoint.url), /answered 401 invalid_client; check KAFKA_SASL_OAUTH_CLIENT_ID, /);
    expect(line).toContain(`no access token for Kafka: the token endpoint ${endpoint.url} `);
    expect(line).not.toContain('its:secret');
  });
});
