import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../../src/config/config.ts';
import { CONFIG_VARIABLES } from '../../../src/config/config-table.ts';
import { misspelledSettings } from '../../../src/config/misspelled-settings.ts';

const KEY = '0123456789abcdef';

/** The lines of the ConfigError that these texts cause. */
function refusal(env: Readonly<Record<string, string>>, flags: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    loadConfig(env, flags);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  throw new Error(`${JSON.stringify({ env, flags })} was taken`);
}

describe('a start with several wrong settings', () => {
  test('names everything that is wrong at once, in the order of the table, and takes what is wrong for set', () => {
    const env = {
      PORT: '80a',
      RETENTION_HOURS: '0',
      HOST: '0.0.0.0',
      KAFKA_SASL_USERNAME: 'me',
      ACCESS_KEYS: 'x',
      UPSTREAM_ACCESS_KEY: KEY,
    };
    const lines = refusal(env, { 'kafka-tls': 'yes', 'service-database-url': 'file:x', 'service-database-auth-token': KEY });
    expect(lines.map((line) => line.split(/[ =]/, 1)[0])).toEqual([
      'PORT',
      '--kafka-tls',
      'RETENTION_HOURS',
      'ACCESS_KEYS',
      '--service-database-url',
      'KAFKA_SASL_MECHANISM',
      'UPSTREAM_ACCESS_KEY',
    ]);
    for (const line of lines) expect(line).toContain('; allowed: ');
  });

  test('beside what is wrong, names the variables that are nearly settings', () => {
    expect(refusal({ HOST: '0.0.0.0', ACCES_KEYS: `me:${KEY}:*` })).toEqual([
      expect.stringMatching(/^HOST="0\.0\.0\.0" is not allowed without ACCESS_KEYS; allowed: /),
      'ACCES_KEYS is not a setting and is not read; did you mean ACCESS_KEYS?',
    ]);
  });
});

describe('a variable that is nearly a setting', () => {
  test.each([
    ['KAFKA_BROKER', 'KAFKA_BROKERS'],
    ['KAFKA_BROKES', 'KAFKA_BROKERS'],
    ['KAKFA_BROKERS', 'KAFKA_BROKERS'],
    ['kafka_brokers', 'KAFKA_BROKERS'],
    ['KAFKA_TOPIC', 'KAFKA_TOPICS'],
    ['KAFKA_GROUP', 'KAFKA_GROUP_ID'],
    ['ACCES_KEYS', 'ACCESS_KEYS'],
    ['ACCESS_KEY', 'ACCESS_KEYS'],
    ['RETENTION_HOUR', 'RETENTION_HOURS'],
    ['MEMORY_LIMIT', 'MEMORY_LIMIT_MB'],
    ['DATADIR', 'DATA_DIR'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['UPSTREAM_URI', 'UPSTREAM_URL'],
    ['demo', 'DEMO'],
  ])('%s is taken for %s', (given, meant) => {
    expect(misspelledSettings({ [given]: 'secret value' })).toEqual([`${given} is not a setting and is not read; did you mean ${meant}?`]);
  });

  test.each<[string, string]>([
    ['PORTS', '1'],
    ['POST', '1'],
    ['HOSTS', '1'],
    ['HOME', '/root'],
    ['HOSTNAME', 'a'],
    ['DEMOS', '1'],
    ['PATH', '/bin'],
    ['LOGNAME', 'me'],
    ['LANG', 'C'],
    ['KAFKA_HOME', '/opt/kafka'],
    ['KAFKA_PORT', 'tcp://10.0.0.1:9092'],
    ['KAFKA_SERVICE_HOST', '10.0.0.1'],
    ['AWS_ACCESS_KEY_ID', 'x'],
    ['KAFKA_BROKER', ''],
    ...CONFIG_VARIABLES.map(({ name }): [string, string] => [name, 'x']),
  ])('%s=%s is nothing to tell of', (name, value) => {
    expect(misspelledSettings({ [name]: value })).toEqual([]);
  });

  test('is nothing to tell of where the setting is set, by variable or flag: it is for another program then', () => {
    expect(misspelledSettings({ LOGLEVEL: 'x', LOG_LEVEL: 'info' })).toEqual([]);
    expect(misspelledSettings({ LOGLEVEL: 'x' }, { 'log-level': 'info' })).toEqual([]);
  });

  test('is only named: the configuration is taken', () => {
    expect(loadConfig({ KAFKA_BROKER: 'a:9092' }).kafkaBrokers).toBeNull();
  });
});
