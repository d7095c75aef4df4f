import fastify from 'fastify';
import { makeDatabaseResource } from '../../../../edge/local/database/database-resource.ts';

/** The database as a process of its own, to be killed: `node database-host.ts DATA_DIR` says its address and serves until then. */
const app = fastify();
const logger = { info: () => {}, warn: () => {}, error: (facts: object) => console.error(facts) };
makeDatabaseResource({ statementMs: 3_600_000, requestMs: 3_600_000 }).routes(app, {
  dataDir: process.argv[2] ?? '',
  now: Date.now,
  logger,
});
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
