import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, startApp } from '../../running-app.ts';
import { httpListener } from '../../sinks/http-listener.ts';
import { expectedIds, idsIn } from '../../sinks/sample-events.ts';
import { killAll, runCli, startCli } from '../cli-process.ts';

afterEach(killAll);

test('shieldlog feed, killed between the file of rejected events and the cursor, has them twice there and loses none', async () => {
  const folder = temporaryFolder();
  const app = await startApp();
  onTestFinished(() => app.stop());
  await ingest(
    app,
    expectedIds(5)
      .map((logId) => eventLine({ logId }))
      .join(''),
  );
  const answer = { accepted: 3, duplicates: 0, expired: 0, repaired: 0, rejectedCount: 2 };
  const rejected = [1, 4].map((index) => ({ index, line: index + 1, reason: 'wrong' }));
  const listener = await httpListener(() => ({ status: 202, body: JSON.stringify({ ...answer, rejected }) }));
  onTestFinished(() => listener.stop());
  const [state, file] = [join(folder, 'state'), join(folder, 'rejected.ndjson')];
  const args = ['feed', '--url', app.url, '--zone', '7', '--once', '--state', state, '--to', listener.url.href, '--rejected', file];
  const rejectedIds = (): string[] => idsIn(readFileSync(file, 'utf8'));
  // The state is written to this path first: opening a pipe that nobody reads holds the process up before the cursor is kept.
  execFileSync('mkfifo', [`${state}.tmp`]);
  const held = startCli(args);
  await eventually('the events are in the file', () => {
    try {
      return rejectedIds().length === 2;
    } catch {
      return false;
    }
  });
  held.child.kill('SIGKILL');
  await held.ended;
  rmSync(`${state}.tmp`);
  const { status, stderr } = await runCli(args);
  expect([status, stderr]).toEqual([0, expect.stringContaining('3 events delivered')]);
  expect(rejectedIds()).toEqual(['e1', 'e4', 'e1', 'e4']);
  expect(await runCli(args)).toMatchObject({ status: 0, stderr: expect.stringContaining('0 events delivered') });
});
