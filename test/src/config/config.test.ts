import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../../src/config/config.ts';
import { CONFIG_VARIABLES, flagOf } from '../../../src/config/config-table.ts';
import { configuredMappings, requireKeyMappings } from '../../../src/config/configured-mappings.ts';
import { CLICKHOUSE_BAD, CLICKHOUSE_GOOD } from './clickhouse-config-cases.ts';
import { EDGE_BAD, EDGE_GOOD } from './edge-config-cases.ts';
import { kafkaBad, kafkaFaults, kafkaFiles, kafkaGood, OAUTH, SASL } from './kafka-config-cases.ts';

type Texts = Readonly<Record<string, string>>;

const KEY = '0123456789abcdef';
const mapped = (pattern: string, mapping: string | null): object => ({ pattern, mapping });
const own = (pattern: string): object => mapped(pattern, null);
const THIS_FILE = import.meta.filename;
const FILES = await kafkaFiles();

/** The message of the ConfigError that these texts cause. */
function refusal(env: Texts, flags: Texts = {}): string {
  try {
    loadConfig(env, flags);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error(`${JSON.stringify({ env, flags })} was taken`);
}

const GOOD: readonly (readonly [name: string, text: string, key: string, value: unknown, besides?: Texts])[] = [
  ['HOST', '::1', 'host', '::1'],
  ['HOST', '127.9.9.9', 'host', '127.9.9.9'],
  ['HOST', '0.0.0.0', 'host', '0.0.0.0', { ACCESS_KEYS: `me:${KEY}:*` }],
  ['PORT', '0', 'port', 0],
  ['PORT', '65535', 'port', 65_535],
  ['PUBLIC_URL', 'https://WAF.example:8443/waf/', 'publicUrl', 'https://waf.example:8443/waf'],
  ['PUBLIC_URL', 'http://[::1]', 'publicUrl', 'http://[::1]'],
  ['DATA_DIR', '/tmp/with blank', 'dataDir', '/tmp/with blank'],
  ['MAPPINGS', '/etc/shieldlog/mappings', 'mappings', '/etc/shieldlog/mappings'],
  ['ALERTS', '/etc/shieldlog/alerts', 'alerts', '/etc/shieldlog/alerts'],
  ['KAFKA_BROKERS', 'a:9092, [::1]:9093', 'kafkaBrokers', ['a:9092', '[::1]:9093']],
  ['KAFKA_TOPICS', 'shield-*,audit.{a,b}', 'kafkaTopics', [own('shield-*'), own('audit.{a,b}')]],
  ['KAFKA_TOPICS', '[ab]-events,@(c,d)', 'kafkaTopics', [own('[ab]-events'), own('@(c,d)')]],
  ['KAFKA_TOPICS', 'one, two', 'kafkaTopics', [own('one'), own('two')]],
  [
    'KAFKA_TOPICS',
    'waf-*=aws-waf,{a,b}=my_WAF-2, one',
    'kafkaTopics',
    [mapped('waf-*', 'aws-waf'), mapped('{a,b}', 'my_WAF-2'), own('one')],
  ],
  ['KAFKA_GROUP_ID', 'g', 'kafkaGroupId', 'g'],
  ['KAFKA_TLS', '1', 'kafkaTls', true],
  ['KAFKA_SASL_MECHANISM', 'SCRAM-SHA-512', 'kafkaSaslMechanism', 'scram-sha-512', SASL],
  ['KAFKA_SASL_USERNAME', 'you', 'kafkaSaslUsername', 'you', SASL],
  ['KAFKA_SASL_PASSWORD', ' blanks count ', 'kafkaSaslPassword', ' blanks count ', SASL],
  ['RETENTION_HOURS', '2', 'retentionMs', 7_200_000],
  ['DEAD_LETTER_DAYS', '2', 'deadLetterRetentionMs', 172_800_000],
  ['DEAD_LETTER_MAX_MB', '5', 'deadLetterMaxMb', 5],
  ['MAX_CONNECTIONS', '100', 'maxConnections', 100],
  ['INGEST_MAX_MB', '100', 'ingestMaxMb', 100],
  ['QUERY_DEADLINE_MS', '3600000', 'queryDeadlineMs', 3_600_000],
  ['EXPORT_DEADLINE_MS', '86400000', 'exportDeadlineMs', 86_400_000],
  ['EXPORT_IDLE_MS', '3600000', 'exportIdleMs', 3_600_000],
  ['MEMORY_LIMIT_MB', '256', 'memoryLimitMb', 256],
  ['DEMO', 'true', 'demo', true],
  ['DEMO', 'auto', 'demo', true],
  ['DEMO', 'auto', 'demo', false, { KAFKA_BROKERS: 'a:1' }],
  ['ALERT_RECEIVERS', THIS_FILE, 'alertReceivers', THIS_FILE],
  ['ALERT_ZONE', '-99', 'alertZone', -99],
  ['DEMO_FILE', THIS_FILE, 'demoFile', THIS_FILE, { DEMO_MAPPING: 'aws-waf' }],
  ['DEMO_FILE', THIS_FILE, 'demo', true, { DEMO_MAPPING: 'aws-waf', KAFKA_BROKERS: 'a:1' }],
  ['DEMO_MAPPING', 'aws-waf', 'demoMapping', 'aws-waf', { DEMO_FILE: THIS_FILE }],
  ['LOG_LEVEL', 'Debug', 'logLevel', 'debug'],
  ...kafkaGood(FILES),
  ...CLICKHOUSE_GOOD,
  ...EDGE_GOOD,
];

const BAD: readonly (readonly [name: string, text: string, besides?: Texts])[] = [
  ['HOST', ' '],
  ['HOST', '0.0.0.0'],
  ['HOST', '192.168.1.5'],
  ['HOST', '127.1'],
  ['HOST', 'localhost.example.com'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '0x50'],
  ['PORT', '80.0'],
  ['PORT', '1e3'],
  ['PORT', 'http'],
  ['PUBLIC_URL', 'waf.example'],
  ['PUBLIC_URL', 'ftp://waf.example'],
  ['PUBLIC_URL', 'https://me:secret@waf.example'],
  ['PUBLIC_URL', 'https://waf.example/?zone=1'],
  ['DATA_DIR', '  '],
  ['MAPPINGS', ' '],
  ['ALERTS', ' '],
  ['KAFKA_BROKERS', 'localhost'],
  ['KAFKA_BROKERS', 'a:9092,'],
  ['KAFKA_BROKERS', 'a:0'],
  ['KAFKA_BROKERS', 'a:70000'],
  ['KAFKA_BROKERS', 'http://a:9092'],
  ['KAFKA_TOPICS', 'a b'],
  ['KAFKA_TOPICS', ','],
  ['KAFKA_TOPICS', 'audit.{a,b'],
  ['KAFKA_TOPICS', 'a),(b'],
  ['KAFKA_TOPICS', '['],
  ['KAFKA_TOPICS', 'events-[ab'],
  ['KAFKA_TOPICS', 'a]'],
  ['KAFKA_TOPICS', '{a,(b})'],
  ['KAFKA_TOPICS', 'a[]'],
  ['KAFKA_TOPICS', '[', { KAFKA_BROKERS: 'a:9092' }],
  ['KAFKA_TOPICS', 'waf='],
  ['KAFKA_TOPICS', '=aws-waf'],
  ['KAFKA_TOPICS', 'waf=aws-waf=7'],
  ['KAFKA_TOPICS', 'waf=aws waf'],
  ['KAFKA_TOPICS', 'waf=aws-waf:7'],
  ['KAFKA_GROUP_ID', ' '],
  ['KAFKA_TLS', 'yes'],
  ['KAFKA_SASL_MECHANISM', 'gssapi', SASL],
  ['KAFKA_SASL_USERNAME', ' ', SASL],
  ['KAFKA_SASL_PASSWORD', ' ', SASL],
  ['RETENTION_HOURS', '0'],
  ['RETENTION_HOURS', '72h'],
  ['DEAD_LETTER_DAYS', '366'],
  ['DEAD_LETTER_MAX_MB', '0'],
  ['MAX_CONNECTIONS', '15'],
  ['INGEST_MAX_MB', '1GB'],
  ['QUERY_DEADLINE_MS', '0'],
  ['QUERY_DEADLINE_MS', '-30000'],
  ['EXPORT_DEADLINE_MS', '0'],
  ['EXPORT_DEADLINE_MS', '86400001'],
  ['EXPORT_IDLE_MS', '0'],
  ['EXPORT_IDLE_MS', '3600001'],
  ['MEMORY_LIMIT_MB', '255'],
  ['MEMORY_LIMIT_MB', '1GB'],
  ['DEMO', 'maybe'],
  ['ALERT_RECEIVERS', '/nowhere/receivers.yaml'],
  ['ALERT_ZONE', 'all'],
  ['DEMO_FILE', '/nowhere/waf.log', { DEMO_MAPPING: 'aws-waf' }],
  ['DEMO_FILE', import.meta.dirname, { DEMO_MAPPING: 'aws-waf' }],
  ['DEMO_FILE', THIS_FILE],
  ['DEMO_MAPPING', ' ', { DEMO_FILE: THIS_FILE }],
  ['DEMO_MAPPING', 'aws-waf'],
  ['LOG_LEVEL', 'verbose'],
  ['ACCESS_KEYS', ''],
  ['ACCESS_KEYS', ','],
  ['ACCESS_KEYS', ' \t '],
  ['ACCESS_KEYS', '\r\n,\n'],
  ['ACCESS_KEYS', 'no-colon'],
  ['ACCESS_KEYS', `me:${KEY}`],
  ['ACCESS_KEYS', 'me:short:*'],
  ['ACCESS_KEYS', `a b:${KEY}:*`],
  ['ACCESS_KEYS', `me:${KEY}:x`],
  ['ACCESS_KEYS', `me:${KEY}:1+2147483648`],
  ['ACCESS_KEYS', `me:${KEY}:-2147483649`],
  ['ACCESS_KEYS', `me:${KEY}:-`],
  ['ACCESS_KEYS', `me:${KEY}:*,me:${KEY}x:*`],
  ['ACCESS_KEYS', `me:${KEY}:*,you:${KEY}:*`],
  ['ACCESS_KEYS', `me:${KEY}:*:`],
  ['ACCESS_KEYS', `me:${KEY}:*:root`],
  ['ACCESS_KEYS', `me:${KEY}:*:personal:`],
  ['ACCESS_KEYS', `me:${KEY}:*:personal: `],
  ['ACCESS_KEYS', `me:${KEY}:*::aws-waf`],
  ['ACCESS_KEYS', `me:${KEY}:*:personal:aws-waf:x`],
  ...kafkaBad(FILES),
  ...CLICKHOUSE_BAD,
  ...EDGE_BAD,
];

describe('the configuration', () => {
  test('of an empty environment is the defaults', () => {
    expect(loadConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: null,
      dataDir: './data',
      mappings: null,
      alerts: null,
      store: 'embedded',
      clickhouseUrls: null,
      clickhouseUser: 'default',
      clickhousePassword: null,
      clickhouseDatabase: 'shieldlog',
      clickhouseCluster: null,
      clickhouseInsertQuorum: 0,
      kafkaBrokers: null,
      kafkaTopics: [own('shield-events')],
      kafkaGroupId: 'shieldlog',
      kafkaTls: false,
      kafkaTlsCaFile: null,
      kafkaTlsCertFile: null,
      kafkaTlsKeyFile: null,
      kafkaTlsKeyPassphrase: null,
      kafkaSaslMechanism: null,
      kafkaSaslUsername: null,
      kafkaSaslPassword: null,
      kafkaOAuthTokenUrl: null,
      kafkaOAuthClientId: null,
      kafkaOAuthClientSecret: null,
      kafkaOAuthScope: null,
      retentionMs: 72 * 3_600_000,
      deadLetterRetentionMs: 7 * 24 * 3_600_000,
      deadLetterMaxMb: 1024,
      maxConnections: 4_096,
      ingestMaxMb: 16_384,
      queryDeadlineMs: 30_000,
      exportDeadlineMs: 3_600_000,
      exportIdleMs: 60_000,
      memoryLimitMb: 1024,
      demo: false,
      demoFile: null,
      alertReceivers: null,
      alertZone: null,
      demoMapping: null,
      logLevel: 'info',
      accessKeys: [],
      upstreamUrl: null,
      upstreamOverrides: null,
      upstreamAccessKey: null,
      serviceDatabaseUrl: null,
      serviceDatabaseAuthToken: null,
      challengeResolverUrl: null,
    });
  });

  test('has one row a key, and a name and a flag of its own for each', () => {
    expect(CONFIG_VARIABLES.map(({ key }) => key)).toEqual(Object.keys(loadConfig({ DEMO: 'false' })).toSorted(byTableOrder));
    expect(new Set(CONFIG_VARIABLES.map(({ name }) => name)).size).toBe(CONFIG_VARIABLES.length);
  });

  test('has a good and a bad value here for every variable', () => {
    const names = CONFIG_VARIABLES.map(({ name }) => name).sort();
    expect([...new Set([...GOOD.map(([name]) => name), 'ACCESS_KEYS'])].sort()).toEqual(names);
    expect([...new Set(BAD.map(([name]) => name))].sort()).toEqual(names);
  });

  for (const [name, text, key, value, besides = {}] of GOOD) {
    test(`takes ${name}=${text}${Object.keys(besides).length > 0 ? ` beside ${Object.keys(besides)}` : ''}`, () => {
      expect(loadConfig({ ...besides, [name]: text })).toHaveProperty(key, value);
      expect(loadConfig(besides, { [flagOf(name)]: text })).toHaveProperty(key, value);
    });
  }

  for (const [name, text, besides = {}] of BAD) {
    const others = Object.keys(besides).length > 0 ? ` beside ${Object.keys(besides)}` : '';
    test(`refuses ${name}=${JSON.stringify(text)}${others} in one line that names variable, value and what is allowed`, () => {
      const variable = CONFIG_VARIABLES.find((candidate) => candidate.name === name);
      const message = refusal({ ...besides, [name]: text });
      expect(message.startsWith(name)).toBe(true);
      expect(message).toContain('; allowed: ');
      expect(message).not.toContain('\n');
      if (variable?.secret) {
        expect(message).not.toContain(JSON.stringify(text));
        expect(message).not.toContain(KEY);
      } else {
        expect(message).toContain(`${name}=${JSON.stringify(text)}`);
      }
    });
  }

  test.each(['', ' ', ',', '\n,\n'])('never lets everybody in because ACCESS_KEYS is set to %j, from a variable or a flag', (text) => {
    const why = 'it is set but has no entry (unset it to start without access keys); allowed: name:key:zones entries';
    expect(refusal({ ACCESS_KEYS: text })).toContain(`ACCESS_KEYS is not allowed: ${why}`);
    expect(refusal({}, { 'access-keys': text })).toContain(`--access-keys is not allowed: ${why}`);
  });

  const LONG_KEY = 'Rgu8Jb0x9tXzKq3vWm5Ye7Lp';
  const OTHER_KEY = 'Hn2Sd4Fc6Ab1Zi0oTr8QjUyE';

  test.each([
    ['a colon inside', `me:${LONG_KEY}:${OTHER_KEY}:*`],
    ['two colons inside', `me:${LONG_KEY}:${OTHER_KEY}:${LONG_KEY}:*`],
    ['a colon at its beginning', `me::${LONG_KEY}:*`],
    ['a colon at its end', `me:${LONG_KEY}::*`],
    ['a colon and digits inside', `me:${LONG_KEY}:7:${OTHER_KEY}:*`],
    ['a colon and digits inside, and no zones', `me:${LONG_KEY}:7:${OTHER_KEY}`],
    ['a comma inside', `me:${LONG_KEY},${OTHER_KEY}:*`],
    ['a comma and colons inside', `me:${LONG_KEY}:*,${OTHER_KEY}:${LONG_KEY}:*`],
    ['a comma and a colon inside', `me:a,${LONG_KEY}:${OTHER_KEY}:*`],
    ['a new line inside', `me:${LONG_KEY}\n${OTHER_KEY}:*`],
    ['a blank inside', `me:${LONG_KEY} ${OTHER_KEY}:*`],
    ['its name behind it', `${LONG_KEY}:me:*`],
    ['the zones before it', `me:*:${LONG_KEY}`],
    ['itself as name, twice', `${LONG_KEY}:${OTHER_KEY}:*,${LONG_KEY}:${OTHER_KEY}x:*`],
    ['another entry of the same key', `${LONG_KEY}:${OTHER_KEY}:*,you:${OTHER_KEY}:*`],
    ['scopes that are none', `me:${LONG_KEY}:*:${OTHER_KEY}`],
  ])('shows no part of a key that has %s', (_what, text) => {
    const message = refusal({ ACCESS_KEYS: text });
    expect(message).toMatch(/^ACCESS_KEYS is not allowed: entry [12] of [12]\b.*; allowed: name:key:zones/);
    for (const key of [LONG_KEY, OTHER_KEY]) expect(message).not.toContain(key.slice(0, 6));
  });

  test.each(['UPSTREAM_URL', 'SERVICE_DATABASE_URL'])('shows no part of %s that stands where the scheme should', (name) => {
    const message = refusal({ [name]: `${LONG_KEY}:${OTHER_KEY}@api.example` });
    expect(message).toContain(`${name} is not allowed: its scheme is not http or https; allowed: `);
    for (const key of [LONG_KEY, OTHER_KEY]) expect(message.toLowerCase()).not.toContain(key.toLowerCase());
  });

  test('names the flag where the value came from one', () => {
    expect(refusal({ PORT: '1' }, { port: 'x' })).toBe(
      '--port="x" is not allowed; allowed: a whole number 0..65535; 0 takes any free port',
    );
  });

  test('prefers a flag to its variable, and does not look at the variable then', () => {
    expect(loadConfig({ PORT: 'nonsense' }, { port: '1234' }).port).toBe(1234);
  });

  test('takes an empty variable for an unset one', () => {
    expect(loadConfig({ PORT: '', KAFKA_BROKERS: '', KAFKA_TOPICS: '' })).toEqual(loadConfig({}));
  });

  test.each(
    [SASL, OAUTH].flatMap((settings) => Object.keys(settings).map((name) => [name, settings['KAFKA_SASL_MECHANISM'], settings] as const)),
  )('wants %s where the others that %s needs are set', (name, _mechanism, settings) => {
    const { [name]: _left, ...others } = settings;
    expect(refusal(others)).toMatch(new RegExp(`^${name} is not set.*; allowed: `));
  });

  test.each(kafkaFaults(FILES))('refuses %s in one line', (_what, env, line) => {
    expect(refusal(env)).toBe(line);
  });

  test('never shows the Kafka password', () => {
    const { KAFKA_SASL_MECHANISM: _left, ...others } = SASL;
    expect(refusal(others)).not.toContain('secret word');
  });

  test.each([
    ['*', '', ['read', 'ingest', 'manage', 'metrics', 'admin']],
    ['7', '', ['read', 'ingest', 'manage']],
    ['7', ':personal', ['read', 'ingest', 'manage', 'personal']],
    ['7+8', ':personal+database', ['read', 'ingest', 'manage', 'personal', 'database']],
    ['7', ':read', ['read']],
    ['7', ':ingest+metrics', ['ingest', 'metrics']],
    ['*', ':manage+personal', ['manage', 'personal', 'metrics', 'admin']],
    ['7', ':admin', ['read', 'ingest', 'manage', 'admin']],
  ])('gives a key of zones %s with the fourth part "%s" the scopes %j', (zones, part, scopes) => {
    expect([...(loadConfig({ ACCESS_KEYS: `a:${KEY}:${zones}${part}` }).accessKeys[0]?.scopes ?? [])]).toEqual(scopes);
  });

  test.each([
    ['', null],
    [':ingest', null],
    [':ingest:aws-waf', 'aws-waf'],
    [':ingest+read: own_2 ', 'own_2'],
  ])('gives a key with the parts "%s" behind its zones the mapping %j', (parts, mapping) => {
    expect(loadConfig({ ACCESS_KEYS: `a:${KEY}:7${parts}` }).accessKeys[0]?.mapping).toBe(mapping);
  });

  test('names the entry whose mapping there is not, and no part of it, which may be one of a key', () => {
    const { accessKeys } = loadConfig({ ACCESS_KEYS: `a:${KEY}:7,b:${LONG_KEY}:7:ingest:aws-waf\nc:${KEY}c:*:read:${OTHER_KEY}` });
    const mappings = configuredMappings(null);
    const allowed = [...mappings.keys()].join(', ');
    expect(() => requireKeyMappings(accessKeys, mappings)).toThrow(
      new ConfigError([`ACCESS_KEYS: the fifth part of entry 3 of 3 is no mapping; allowed: ${allowed}`]),
    );
    requireKeyMappings(accessKeys.slice(0, 2), mappings);
  });

  test('keeps of an access key only its hash and zones', () => {
    const [all, some] = loadConfig({ ACCESS_KEYS: `all:${KEY}:*,\n some:${KEY}2:7+8 ,` }).accessKeys;
    expect(all).toMatchObject({ name: 'all', zones: 'all' });
    expect(some).toMatchObject({ name: 'some', zones: new Set([7, 8]) });
    expect(JSON.stringify([all, some])).not.toContain(KEY);
  });
});

function byTableOrder(a: string, b: string): number {
  const index = (key: string): number => CONFIG_VARIABLES.findIndex((variable) => variable.key === key);
  return index(a) - index(b);
}
