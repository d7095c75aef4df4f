/** The rooms and what each may import, as the architecture has it. `scripts` runs before anything is installed and stands alone. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  query: [],
  sql: ['query'],
  work: [],
  store: ['query', 'sql', 'work'],
  ingest: ['query', 'work', 'store'],
  alerts: ['query', 'work', 'store', 'ingest'],
  edge: ['work'],
  src: ['query', 'sql', 'work', 'store', 'ingest', 'alerts', 'edge'],
  web: ['query'],
  bench: ['query', 'sql', 'work', 'store', 'ingest', 'alerts', 'edge', 'src', 'web', 'test', 'scripts'],
  test: ['query', 'sql', 'work', 'store', 'ingest', 'alerts', 'edge', 'src', 'web', 'bench', 'scripts'],
};

/** The rooms that may use a package: those that tie the program to an engine, a broker or a server, and those of `query` and the page. */
export const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  '@duckdb/node-api': ['store', 'bench', 'test'],
  '@clickhouse/client': ['store', 'bench', 'test'],
  kafkajs: ['ingest', 'bench', 'test'],
  'ipaddr.js': ['query', 'store', 'ingest', 'edge', 'src', 'bench', 'test'],
  preact: ['web', 'bench', 'test'],
  'preact/hooks': ['web', 'bench', 'test'],
  '@preact/signals': ['web', 'bench', 'test'],
  htm: ['web', 'bench', 'test'],
  uplot: ['web', 'bench', 'test'],
  fastify: ['src', 'edge', 'bench', 'test'],
  'fastify-plugin': ['src', 'edge', 'bench', 'test'],
  'node:crypto': ['work', 'store', 'ingest', 'alerts', 'edge', 'src', 'bench', 'test'],
  'node:fs': ['work', 'store', 'ingest', 'alerts', 'edge', 'src', 'bench', 'test'],
  'node:path': ['work', 'store', 'ingest', 'alerts', 'edge', 'src', 'bench', 'test'],
  'node:sqlite': ['work', 'store', 'ingest', 'alerts', 'edge', 'src', 'bench', 'test'],
  'node:timers/promises': ['work', 'store', 'ingest', 'alerts', 'edge', 'src', 'bench', 'test'],
  'node:util': ['work', 'store', 'ingest', 'alerts', 'edge', 'src', 'bench', 'test'],
  'node:http': ['work', 'store', 'ingest', 'edge', 'src', 'bench', 'test'],
};

/**
 * The folders of a room from top to bottom: each imports only itself and those below it. `.` stands for the files beside these folders.
 * A folder inside one of them belongs to it.
 */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  query: ['request', 'match', 'plan', '.'],
  sql: ['clickhouse', '.'],
  store: ['embedded', 'clickhouse', 'parquet', '.'],
  'store/embedded': [
    '.',
    'backup',
    'repair',
    'check',
    'retention',
    'compaction',
    'flush',
    'cache',
    'export',
    'memtable',
    'feed',
    'search',
    'snapshot',
    'integrity',
    'catalog',
    'blob',
    'journal',
    'segment',
    'parquet',
    'duckdb',
    'runtime',
  ],
  'store/clickhouse': ['.', 'search', 'feed', 'intake', 'server'],
  ingest: ['demo', 'kafka', 'upload', 'doors', 'mapping', 'event'],
  alerts: ['evaluation', '.'],
  src: [
    'cli',
    '.',
    'routes',
    'page',
    'openapi',
    'management',
    'alerts',
    'sinks',
    'tail',
    'feed',
    'export',
    'formats',
    'auth',
    'scheduling',
    'http',
    'config',
  ],
  web: ['.', 'alerting', 'overview', 'groups', 'live', 'saved', 'events', 'files', 'table', 'search', 'widgets', 'state', 'api'],
  bench: ['.', 'rules', 'compare', 'modes', 'subjects', 'report', 'engines', 'floor', 'events'],
};

/** Folders inside those folders. */
export const INNER_FOLDERS = [
  'src/cli/backup',
  'src/cli/feed',
  'src/cli/ingest',
  'src/cli/search',
  'src/routes/doors',
  'bench/report/page',
] as const;

/**
 * The files that stand beside the others of a folder and import from its top: the one that starts the program, and the one that chooses a
 * store.
 */
export const TOP_FILES = ['src/main.ts', 'store/open-store.ts'] as const;

/** The folders that only `store/` itself knows: everybody else opens a store by `store/open-store.ts`. */
export const STORES = ['embedded', 'clickhouse'] as const;

/** The files that know the embedded store all the same: their commands work on its data folder while no program has it open. */
export const OFFLINE_FILES = ['src/cli/check-command.ts', 'src/cli/backup/backup-folder.ts'] as const;
