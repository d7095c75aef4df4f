import { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareDataFolder } from '../../../../store/data-folder.ts';
import { openCatalogDatabase } from '../../../../store/embedded/catalog/catalog-database.ts';

// Opens the catalog of a data folder, and kills itself before its statement of the number that it is started with.

const [dataDir = '', killedBefore = ''] = process.argv.slice(2);
let statements = 0;

function countCalls(prototype: object, name: string): void {
  const call = Reflect.get(prototype, name) as (...values: unknown[]) => unknown;
  Reflect.set(prototype, name, function (this: unknown, ...values: unknown[]) {
    statements += 1;
    if (statements === Number(killedBefore)) {
      process.kill(process.pid, 'SIGKILL');
    }
    return call.apply(this, values);
  });
}

countCalls(DatabaseSync.prototype, 'exec');
for (const name of ['run', 'get', 'all']) countCalls(StatementSync.prototype, name);

openCatalogDatabase(prepareDataFolder(dataDir).catalogFile);
process.exit(0);
