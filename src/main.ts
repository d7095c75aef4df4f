#!/usr/bin/env node
import process from 'node:process';

// A running DuckDB call occupies one of libuv's threads. Node reads their number at first use, which is after this line.
process.env['UV_THREADPOOL_SIZE'] ??= '16';

const { outliveOutputs } = await import('./cli/lost-output.ts');
const { runCommand } = await import('./cli/run-command.ts');
const { standardInput } = await import('./cli/standard-input.ts');

const processStatus = outliveOutputs(process);
const status = await runCommand(process.argv.slice(2), {
  env: process.env,
  stdin: standardInput(),
  stdout: process.stdout,
  stderr: process.stderr,
});
// Everything is closed by now. An idle keep-alive connection or an unread stdin must not hold the process.
process.exit(await processStatus(status));
