import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../fixtures/eventually.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../../running-app.ts';
import { idsIn } from '../../sinks/sample-events.ts';
import { type CliProcess, killAll, startCli } from '../cli-process.ts';

let app: RunningApp;
let folder: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = await startApp();
  await ingest(app, eventLine({ logId: 'one' }));
  mkdirSync(obstacle());
});

afterEach(async () => {
  await killAll();
  await app.stop();
});

const out = (): string => join(folder, 'out.ndjson');
/** A folder at the path where the feed writes a new state, which it does when it opens a file. */
const obstacle = (): string => join(folder, 'state.tmp');

const start = (...args: readonly string[]): CliProcess =>
  startCli(['feed', '--url', app.url, '--zone', '7', '--state', join(folder, 'state'), '--to', out(), ...args]);

/** Waits until the feed has failed twice. */
async function failedTwice(feed: CliProcess): Promise<void> {
  await eventually('two attempts have failed', () => {
    if (feed.child.exitCode !== null) throw new Error(`it ended with ${feed.child.exitCode}: ${feed.stderr()}`);
    return feed.stderr().split('cannot be written: EISDIR').length > 2;
  });
}

describe('shieldlog feed, when its file cannot be opened at the start,', () => {
  test.each([[['--once']], [[]]])('tries again until it can (%j)', async (args) => {
    const feed = start(...args);
    await failedTwice(feed);
    rmdirSync(obstacle());
    await eventually('the event is in the file', () => idsIn(readFileSync(out(), 'utf8')).length === 1);
    if (args.length === 0) feed.child.kill('SIGTERM');
    expect(await feed.ended).toBe(0);
    expect(feed.stderr()).toMatch(/EISDIR[^\n]+; trying again in [\d.]+ s\n.*works again\n.*1 events delivered/s);
  });

  test('ends with status 0 when it is told to stop', async () => {
    const feed = start();
    await failedTwice(feed);
    feed.child.kill('SIGTERM');
    expect(await feed.ended).toBe(0);
  });

  test('ends with status 1 when it is given up, and says what it waited for', async () => {
    const feed = start('--give-up-after', '2s');
    expect(await feed.ended).toBe(1);
    const why = `${out()} to be opened: the state ${join(folder, 'state')} cannot be written`;
    expect(feed.stderr().trim().split('\n').at(-1)).toContain(`given up after 2 s without progress; it waited for ${why}`);
  });
});
