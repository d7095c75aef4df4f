import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../broker/free-port.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { ask, eventLine, ingest, lastHour, search } from '../running-app.ts';
import { httpListener } from '../sinks/http-listener.ts';
import { addressOf, type CliProcess, killAll, startCli, startPipeline } from './cli-process.ts';

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(killAll);

/** Every write to this device fails as on a full disk. */
const onFullDisk = (output: 1 | 2, args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess =>
  startPipeline(`exec "$0" "$@" ${output}>/dev/full`, args, env);

const status = async (program: CliProcess): Promise<number | null> => {
  program.child.kill('SIGTERM');
  return program.ended;
};

/** Takes an event in, and finds it. */
async function takesInAndFinds(url: string): Promise<void> {
  expect((await ingest({ url }, eventLine())).body.accepted).toBe(1);
  expect((await search({ url }, lastHour())).body.total).toBe(1);
}

describe('a log that cannot be written', () => {
  test('because its disk is full, ends no program that takes events in', async () => {
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const program = onFullDisk(2, ['serve', '--port', String(port), '--data-dir', join(folder, 'data')]);
    await eventually('the program is ready', () => {
      if (program.child.exitCode !== null) throw new Error(`it ended with ${program.child.exitCode}`);
      return ask({ url }, '/readyz').then(
        (answer) => answer.status === 200,
        () => false,
      );
    });
    await takesInAndFinds(url);
    expect(await status(program)).toBe(0);
  });

  test('because nobody reads it any more, ends no program that takes events in', async () => {
    const program = startCli(['serve', '--port', '0', '--data-dir', join(folder, 'data')]);
    const url = await addressOf(program);
    program.child.stderr?.destroy();
    await takesInAndFinds(url);
    expect(await status(program)).toBe(0);
  });

  test.each([
    ['feed', (url: string) => ['feed', '--url', url, '--zone', '7', '--to', join(folder, 'out.ndjson')]],
    ['ingest --follow', (url: string) => ['ingest', '--follow', '--url', url, join(folder, 'in.ndjson')]],
  ])('ends no %s that waits for a program', async (_what, args) => {
    writeFileSync(join(folder, 'in.ndjson'), eventLine());
    const away = await httpListener(() => ({ status: 503 }));
    onTestFinished(() => away.stop());
    const command = onFullDisk(2, args(away.url.href), { XDG_STATE_HOME: folder });
    await eventually('it has asked three times', () => {
      if (command.child.exitCode !== null) throw new Error(`it ended with ${command.child.exitCode}`);
      return away.received.length >= 3;
    });
    expect(await status(command)).toBe(0);
  });
});

describe('the output of a command', () => {
  test('that has no room on its disk is told, with status 1', async () => {
    const command = onFullDisk(1, ['mappings', 'list']);
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toMatch(/^shieldlog: standard output cannot be written: .*ENOSPC.*\n$/);
  });

  test('that nobody reads any more ends it as one that is read', async () => {
    const command = startPipeline('{ "$0" "$@"; echo "status $?" >&2; } | true', ['mappings', 'list']);
    await command.ended;
    expect(command.stderr()).toBe('status 0\n');
  });
});
