import './recorded-calls.ts';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { ask, eventLine, ingest, type RunningApp, startApp } from '../src/running-app.ts';
import { Recording } from './recording.ts';

const HOLD_MS = 500;

/** An app whose disk is full for one write from the call of `fillDisk` on. */
async function appOnSmallDisk(failureHoldMs?: number): Promise<{ readonly app: RunningApp; readonly fillDisk: () => void }> {
  const dataDir = temporaryFolder();
  const app = await startApp({ dataDir, storeOptions: failureHoldMs === undefined ? {} : { failureHoldMs } });
  const recording = new Recording(dataDir, dataDir);
  onTestFinished(async () => {
    recording.end();
    await app.stop();
  });
  return { app, fillDisk: () => recording.failAt({ at: 0, code: 'ENOSPC' }) };
}

/** What shippers and balancers are told before they send anything. */
async function told(app: RunningApp): Promise<readonly number[]> {
  return [(await ask(app, '/readyz')).status, (await ask(app, '/services/collector/health')).status];
}

test('a full disk is told by /readyz and by the health of the door until something is stored again', async () => {
  const { app, fillDisk } = await appOnSmallDisk();
  expect(await told(app)).toEqual([200, 200]);
  fillDisk();
  expect((await ingest(app, eventLine())).status).toBe(503);
  expect(await told(app)).toEqual([503, 503]);
  expect(app.log.findLast(({ msg }) => msg === 'not ready')).toMatchObject({
    reasons: [expect.stringMatching(/could not be stored: .*ENOSPC/)],
  });
  await eventually('the disk has room', async () => (await ingest(app, eventLine())).status === 202);
  expect(await told(app)).toEqual([200, 200]);
});

test('who sends nothing because of it is told after a while that he may try again', async () => {
  const { app, fillDisk } = await appOnSmallDisk(HOLD_MS);
  fillDisk();
  expect((await ingest(app, eventLine())).status).toBe(503);
  await eventually('the program is ready', async () => (await told(app)).every((status) => status === 200));
});
