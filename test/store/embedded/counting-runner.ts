import { DuckDBInstance } from '@duckdb/node-api';
import { onTestFinished } from 'vitest';
import { StatementRunner } from '../../../store/embedded/duckdb/statement-runner.ts';

/** DuckDB in this thread; `asked` counts the statements that `runner` ran, and `readRows` reads a Parquet file. */
export async function countingRunner() {
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  onTestFinished(() => {
    connection.closeSync();
    engine.closeSync();
  });
  let count = 0;
  const runner = new StatementRunner({
    run: (...statement) => {
      count += 1;
      return connection.run(...statement);
    },
    stream: (...statement) => connection.stream(...statement),
    interrupt: () => connection.interrupt(),
  });
  const readRows = async (path: string) => (await connection.runAndReadAll(`SELECT * FROM '${path}'`)).getRows();
  return { runner, asked: () => count, readRows };
}
