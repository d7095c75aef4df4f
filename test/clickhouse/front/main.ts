import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Control } from './control.ts';
import { ClickhouseEngine } from './engine.ts';

/**
 * A ClickHouse server for tests: `node test/clickhouse/front/main.ts FOLDER [PORT]`. The first line of standard output is the URL of its HTTP
 * interface (user `default`, no password), the second that of its control. It ends with its standard input, and removes the folder. One
 * that is killed leaves the folder, on which it can be started again.
 */
async function main(folder: string, port: number): Promise<void> {
  const data = join(folder, 'inserts');
  mkdirSync(data, { recursive: true });
  const control = new Control(new ClickhouseEngine(join(folder, 'store')), data);
  const { url } = await control.obey({ do: 'open', user: 'default', password: '', port });
  console.log(`${url}\n${await control.listen()}`);
  // An interrupt goes to all processes of a terminal. Whoever started this one ends it when its own work has ended.
  process.on('SIGINT', () => {});
  process.stdin.resume().once('close', () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    // The engine waits for its running statements, which nobody asks for any more.
    process.kill(process.pid, 'SIGKILL');
  });
}

const [folder, port = '0'] = process.argv.slice(2);
if (folder === undefined) throw new Error('The front needs a folder: node test/clickhouse/front/main.ts FOLDER [PORT]');
await main(folder, Number(port));
