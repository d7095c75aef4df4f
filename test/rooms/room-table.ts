/** The rooms and what each may import, as the architecture has it. `scripts` runs before anything is installed and stands alone. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  query: [],
  sql: ['query'],
  store: ['query', 'sql'],
  ingest: ['query', 'store'],
  edge: [],
  src: ['query', 'sql', 'store', 'ingest', 'edge'],
  web: [],
  bench: ['query', 'sql', 'store', 'ingest', 'edge', 'src', 'web', 'test', 'scripts'],
  test: ['query', 'sql', 'store', 'ingest', 'edge', 'src', 'web', 'bench', 'scripts'],
};

/** Which rooms may use the packages that tie the program to an engine, a broker or a server. */
export const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  '@duckdb/node-api': ['store', 'bench', 'test'],
  kafkajs: ['ingest', 'bench', 'test'],
  fastify: ['src', 'edge', 'bench', 'test'],
  'fastify-plugin': ['src', 'edge', 'bench', 'test'],
  'node:fs': ['store', 'ingest', 'edge', 'src', 'bench', 'test'],
  'node:http': ['store', 'ingest', 'edge', 'src', 'bench', 'test'],
};
