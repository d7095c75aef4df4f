import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/cli/command.ts';
import { parseFeedOptions } from '../../../src/cli/feed/feed-options.ts';
import { ConfigError, loadConfig } from '../../../src/config/config.ts';
import { CONFIG_VARIABLES, flagOf } from '../../../src/config/config-table.ts';
import { misspelledSettings } from '../../../src/config/misspelled-settings.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { kafkaFiles, OAUTH } from './kafka-config-cases.ts';

type Texts = Readonly<Record<string, string>>;

const KEY = '0123456789abcdef';
const { lockedKey } = await kafkaFiles();
const without = (texts: Texts, name: string): Texts => Object.fromEntries(Object.entries(texts).filter(([other]) => other !== name));

/** A value that each secret takes, and what it needs beside it. */
const VALUES: Readonly<Record<string, readonly [value: string, besides?: Texts]>> = {
  KAFKA_SASL_PASSWORD: ['pass word', { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'me' }],
  KAFKA_TLS_KEY_PASSPHRASE: ['sesame', lockedKey],
  KAFKA_SASL_OAUTH_CLIENT_SECRET: ['se cret', without(OAUTH, 'KAFKA_SASL_OAUTH_CLIENT_SECRET')],
  ACCESS_KEYS: [`me:${KEY}:*\nyou:${KEY}2:7`],
  CLICKHOUSE_URL: ['http://127.0.0.1:8123', { STORE: 'clickhouse' }],
  CLICKHOUSE_PASSWORD: ['pass word', { STORE: 'clickhouse', CLICKHOUSE_URL: 'http://127.0.0.1:8123' }],
  UPSTREAM_URL: ['https://api.example'],
  UPSTREAM_URL_OVERRIDES: ['9=local'],
  UPSTREAM_ACCESS_KEY: ['key', { UPSTREAM_URL: 'https://api.example' }],
  SERVICE_DATABASE_URL: ['https://db.example'],
  SERVICE_DATABASE_AUTH_TOKEN: ['token', { SERVICE_DATABASE_URL: 'https://db.example' }],
};

function fileOf(content: string | Uint8Array): string {
  const path = join(temporaryFolder(), 'secret');
  writeFileSync(path, content);
  return path;
}

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

const FAULTS: readonly (readonly [what: string, path: () => string, why: string])[] = [
  ['does not exist', () => join(temporaryFolder(), 'none'), 'no such file or directory'],
  ['is a folder', () => temporaryFolder(), 'illegal operation on a directory'],
  ['lies in a file', () => join(fileOf('x'), 'secret'), 'not a directory'],
  ['is empty', () => fileOf(''), 'the file is empty'],
  ['holds a newline alone', () => fileOf('\n'), 'the file is empty'],
  ['is not UTF-8', () => fileOf(Uint8Array.of(0x61, 0xff, 0x62)), 'the file is not UTF-8 text'],
];

describe('every secret of the configuration', () => {
  test('has a value here', () => {
    expect(Object.keys(VALUES).sort()).toEqual(
      CONFIG_VARIABLES.filter(({ secret }) => secret)
        .map(({ name }) => name)
        .sort(),
    );
  });

  for (const [name, [value, besides = {}]] of Object.entries(VALUES)) {
    const file = `${name}_FILE`;
    const flag = `${flagOf(name)}-file`;

    test(`${name} may stand in a file, named by ${file} or --${flag}, whose last newline is not part of it`, () => {
      const expected = loadConfig({ ...besides, [name]: value });
      for (const end of ['', '\n', '\r\n']) {
        const path = fileOf(`${value}${end}`);
        expect(loadConfig({ ...besides, [file]: path })).toEqual(expected);
        expect(loadConfig(besides, { [flag]: path })).toEqual(expected);
      }
    });

    test(`${name} and ${file} are not both taken, and neither are their flags`, () => {
      const path = fileOf(value);
      expect(refusal({ ...besides, [name]: value, [file]: path })).toBe(`${name} and ${file} are both set; allowed: one of them`);
      expect(refusal(besides, { [flagOf(name)]: value, [flag]: path })).toBe(
        `--${flagOf(name)} and --${flag} are both set; allowed: one of them`,
      );
    });

    test.each(FAULTS)(`${file} whose file %s is refused by variable, path and reason`, (_what, pathOf, why) => {
      const path = pathOf();
      const allowed = `allowed: the path of a file that holds the value of`;
      expect(refusal({ ...besides, [file]: path })).toBe(`${file}=${JSON.stringify(path)} cannot be taken: ${why}; ${allowed} ${name}`);
      expect(refusal(besides, { [flag]: path })).toBe(
        `--${flag}=${JSON.stringify(path)} cannot be taken: ${why}; ${allowed} --${flagOf(name)}`,
      );
    });

    test(`${file} with a value that is not allowed is refused by variable and path, without the value`, () => {
      const bad = /^(KAFKA|CLICKHOUSE)_/.test(name) ? ' \t ' : 'un allowed';
      const path = fileOf(bad);
      const message = refusal({ ...besides, [file]: path });
      expect(message.startsWith(`${file}=${JSON.stringify(path)} is not allowed`)).toBe(true);
      expect(message.replace(JSON.stringify(path), '')).not.toContain(bad);
    });

    test(`${file} is no misspelling of anything, and one that is nearly it is told`, () => {
      expect(misspelledSettings({ [file]: 'x' })).toEqual([]);
      expect(misspelledSettings({ [`${name}_FIL`]: 'x' })).toEqual([`${name}_FIL is not a setting and is not read; did you mean ${file}?`]);
    });
  }

  test('that is in a file nobody may read is refused with that reason', () => {
    const path = fileOf('secret');
    chmodSync(path, 0o000);
    // The superuser may read everything; then the file is taken, which is as it should be.
    if (process.getuid?.() === 0) expect(refusal({ ACCESS_KEYS_FILE: path })).toContain('is not allowed');
    else expect(refusal({ ACCESS_KEYS_FILE: path })).toContain('cannot be taken: permission denied');
  });

  test('loses only one newline at its end, and keeps blanks', () => {
    const sasl = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'me' };
    expect(loadConfig({ ...sasl, KAFKA_SASL_PASSWORD_FILE: fileOf(' a\nb \n\n') }).kafkaSaslPassword).toBe(' a\nb \n');
  });

  test('is taken from a flag, in a file or not, before the environment is looked at', () => {
    const [ours, theirs] = [fileOf(`me:${KEY}:*`), fileOf('not read')];
    expect(loadConfig({ ACCESS_KEYS: 'not read', ACCESS_KEYS_FILE: theirs }, { 'access-keys-file': ours }).accessKeys).toHaveLength(1);
    expect(loadConfig({ ACCESS_KEYS_FILE: theirs }, { 'access-keys': `me:${KEY}:*` }).accessKeys).toHaveLength(1);
  });

  test('does not count as given twice where one of the two is empty', () => {
    const path = fileOf(`me:${KEY}:*`);
    expect(loadConfig({ ACCESS_KEYS: '', ACCESS_KEYS_FILE: path }).accessKeys).toHaveLength(1);
    expect(loadConfig({ ACCESS_KEYS: `me:${KEY}:*`, ACCESS_KEYS_FILE: '' }).accessKeys).toHaveLength(1);
    expect(loadConfig({ UPSTREAM_URL_FILE: '' }).upstreamUrl).toBeNull();
  });

  test('never lets everybody in because ACCESS_KEYS_FILE is empty', () => {
    expect(refusal({ ACCESS_KEYS_FILE: '' })).toContain('ACCESS_KEYS_FILE="" cannot be taken: no such file or directory');
  });

  test('that is wrong does not hide what else is wrong', () => {
    const folder = join(temporaryFolder(), 'folder');
    mkdirSync(folder);
    expect(refusal({ PORT: 'x', ACCESS_KEYS_FILE: folder }).split('\n')).toEqual([
      expect.stringMatching(/^PORT="x"/),
      expect.stringMatching(/^ACCESS_KEYS_FILE=".*folder"/),
    ]);
  });

  test('is the only kind of setting that may stand in a file', () => {
    expect(loadConfig({ HOST_FILE: fileOf('::1') }).host).toBe('127.0.0.1');
  });
});

describe('the secrets of a client', () => {
  const parse = (env: Texts, ...more: string[]) => parseFeedOptions(['--zone', '7', '--to', 'https://siem.example/in', ...more], env);
  const usageError = (env: Texts, ...more: string[]): string => {
    try {
      parse(env, ...more);
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
    throw new Error('the command line was taken');
  };

  test('may stand in files', () => {
    const path = fileOf('the-secret\n');
    expect(parse({ SHIELDLOG_ACCESS_KEY_FILE: path, SHIELDLOG_SINK_TOKEN_FILE: path })).toMatchObject({
      accessKey: 'the-secret',
      sinkToken: 'the-secret',
    });
    expect(parse({ SHIELDLOG_ACCESS_KEY: 'not read' }, '--access-key-file', path).accessKey).toBe('the-secret');
  });

  test.each(['SHIELDLOG_ACCESS_KEY', 'SHIELDLOG_SINK_TOKEN'])('%s and its file are not both taken', (name) => {
    expect(usageError({ [name]: 'a', [`${name}_FILE`]: fileOf('a') })).toBe(`${name} and ${name}_FILE are both set; allowed: one of them`);
  });

  test.each(FAULTS)('whose file %s are refused by variable, path and reason', (_what, pathOf, why) => {
    const path = pathOf();
    for (const name of ['SHIELDLOG_ACCESS_KEY_FILE', 'SHIELDLOG_SINK_TOKEN_FILE']) {
      expect(usageError({ [name]: path })).toContain(`${name}=${JSON.stringify(path)} cannot be taken: ${why}; allowed: `);
    }
    expect(usageError({}, '--access-key-file', path)).toContain(`--access-key-file=${JSON.stringify(path)} cannot be taken: ${why}`);
  });

  test.each(['SHIELDLOG_ACCESS_KEY_FILE', 'SHIELDLOG_SINK_TOKEN_FILE'])('%s with a wrong value is refused without the value', (name) => {
    const path = fileOf('two words');
    const message = usageError({ [name]: path });
    expect(message).toContain(`${name}=${JSON.stringify(path)} is not allowed`);
    expect(message).not.toContain('two words');
  });
});
