import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startEngine } from '../../../../store/embedded/duckdb/duckdb-engine.ts';
import { isInvalidated, StatementRunner } from '../../../../store/embedded/duckdb/statement-runner.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { pathAliases } from './path-aliases-under-test.ts';

async function runnerWithAliases(signal?: AbortSignal) {
  const engine = await startEngine({ memoryLimitMb: 256, spillFolder: temporaryFolder(), threads: 1 });
  onTestFinished(() => engine.closeSync());
  const aliases = pathAliases(temporaryFolder());
  const connection = await engine.connect();
  return { aliases, connection, runner: new StatementRunner(connection, aliases, signal) };
}

const statement = (text: string) => ({ text, params: [] });

test.each([
  ['run', (runner: StatementRunner, text: string) => runner.run(statement(text))],
  ['streamed', (runner: StatementRunner, text: string) => runner.stream(statement(text), () => true)],
  ['run for numbers', (runner: StatementRunner, text: string) => runner.runForNumbers(statement(text))],
  ['run by another thread', (runner: StatementRunner, text: string) => runner.nameFiles(Promise.reject(new Error(text)))],
])('the error of a statement that is %s names the file, not the alias that it reads', async (_, run) => {
  const { aliases, runner } = await runnerWithAliases();
  const path = aliases.segmentPath('s1.parquet');
  writeFileSync(path, 'no Parquet at all');
  const alias = aliases.aliasFor(path);
  expect(alias).not.toBe(path);
  const failing = run(runner, `SELECT * FROM read_parquet('${alias}')`);
  await expect(failing).rejects.toThrow(path);
  await expect(failing).rejects.not.toThrow(alias);
});

test('the numbers of all chunks come column by column', async () => {
  const { runner } = await runnerWithAliases();
  const [numbers, halves] = await runner.runForNumbers(statement('SELECT i::DOUBLE, i / 2 FROM range(5000) AS r(i) ORDER BY i'));
  expect(numbers).toEqual(Float64Array.from({ length: 5_000 }, (_, index) => index));
  expect(halves).toEqual(Float64Array.from({ length: 5_000 }, (_, index) => index / 2));
});

test('a stream ends where its taker has enough, and the connection runs the next statement', async () => {
  const { runner } = await runnerWithAliases();
  let rows = 0;
  const take = ({ rowCount }: { readonly rowCount: number }) => {
    rows += rowCount;
    return rows < 4_000;
  };
  const all = statement('SELECT i FROM range(100000) AS r(i)');
  expect(await runner.stream(all, take)).toBe(false);
  expect(rows).toBeLessThan(10_000);
  expect(await runner.stream(statement('SELECT 1'), () => true)).toBe(true);
});

test.each([
  ['run', (runner: StatementRunner, text: string) => runner.run(statement(text))],
  ['streamed', (runner: StatementRunner, text: string) => runner.stream(statement(text), () => true)],
  ['run for numbers', (runner: StatementRunner, text: string) => runner.runForNumbers(statement(text))],
])('a statement that is %s ends with the reason of its signal', async (_, run) => {
  const reason = new Error('nobody waits any more');
  const ending = new AbortController();
  const { connection, runner } = await runnerWithAliases(ending.signal);
  const running = run(runner, 'SELECT count(*)::DOUBLE FROM range(1000000000000) AS a (n) WHERE hash(n) = 1');
  ending.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect(await new StatementRunner(connection).run(statement('SELECT 2'))).toEqual([[2]]);
});

test('DuckDB says of itself that it cannot go on', () => {
  const fatal = 'FATAL Error: Failed: database has been invalidated because of a previous fatal error. The database must be restarted';
  expect(isInvalidated(new Error(fatal))).toBe(true);
  expect(isInvalidated(new Error('Invalid Input Error: Failed to read file'))).toBe(false);
});
