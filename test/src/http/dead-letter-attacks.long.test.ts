import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { addressOf, killAll, startCli } from '../cli/cli-process.ts';
import { ask } from '../running-app.ts';

afterEach(killAll);

/** The generous watch for a stall: on this path the program was silent for many seconds. */
const STALL_MS = 5_000;

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** Text, again and again, as gzip. */
function compressed(text: string, times: number): Promise<Buffer> {
  return buffer(Readable.from(Array.from({ length: times }, () => Buffer.from(text))).pipe(createGzip()));
}

/** Sends an upload to the program as a process of its own, and asks for its health until it is answered. */
async function sendTo(url: string, body: Buffer) {
  const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
  let isDone = false;
  const answer = ask({ url }, '/ingest/events', { method: 'POST', headers, body: new Uint8Array(body) }).finally(() => {
    isDone = true;
  });
  let longestMs = 0;
  while (!isDone) {
    const began = performance.now();
    expect((await ask({ url }, '/healthz')).status).toBe(200);
    longestMs = Math.max(longestMs, performance.now() - began);
    await delay(5);
  }
  expect(longestMs).toBeLessThan(STALL_MS);
  return await answer;
}

async function startProgram(dataDir: string): Promise<string> {
  return await addressOf(startCli(['serve'], { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'info' }));
}

test('six lines of 60 MiB leave no more than their starts on disk', async () => {
  const dataDir = temporaryFolder();
  const url = await startProgram(dataDir);
  const line = `${'x'.repeat(60 * 1024 * 1024)}\n`;
  const { status, body } = await sendTo(url, await compressed(line, 6));
  expect([status, body.rejectedCount]).toEqual([202, 6]);
  const letters = (await ask({ url }, '/ingest/dead-letters')).body.deadLetters;
  expect(letters).toMatchObject([{ sizeBytes: 60 * 1024 * 1024, replayable: false, text: 'x'.repeat(64 * 1024) }]);
  expect(bytesIn(dataDir)).toBeLessThan(10 * 1024 * 1024);
});

test.each([
  ['5 million', 5],
  ['60 million', 60],
])('%s lines that are no events end with the 10,001st, and the health check is answered throughout', async (_, millions) => {
  const dataDir = temporaryFolder();
  const url = await startProgram(dataDir);
  const before = gzipSync(`{"logId":"a","shieldZoneId":7,"timestamp":${Date.now() - 60_000}}\n`);
  const { status, body } = await sendTo(url, Buffer.concat([before, await compressed('x\n'.repeat(1_000_000), millions)]));
  expect([status, body.errorKey]).toEqual([400, 'request.malformed']);
  expect(body.detail.replace(/(?<= request )\(.*\)(?=; before )/, '(…)')).toBe(
    'line 10002: more than 10000 events would be rejected, which are allowed in one request (…); ' +
      'before that 1 events were stored, 0 had expired, 10000 were rejected; sending everything again stores nothing twice',
  );
  expect((await ask({ url }, '/metrics')).text).toMatch(/^shieldlog_dead_letters 1$/m);
  expect(bytesIn(dataDir)).toBeLessThan(10 * 1024 * 1024);
});

test('a body that is longer than INGEST_MAX_MB decompressed ends there', async () => {
  const dataDir = temporaryFolder();
  const url = await addressOf(startCli(['serve'], { PORT: '0', DATA_DIR: dataDir, INGEST_MAX_MB: '100' }));
  const { status, body } = await sendTo(url, await compressed('\n'.repeat(1024 * 1024), 150));
  expect([status, body.errorKey]).toEqual([400, 'request.malformed']);
  expect(body.detail).toMatch(/^line \d+: the input is longer than 104857600 bytes/);
  expect((await sendTo(url, await compressed('\n'.repeat(1024 * 1024), 100))).status).toBe(202);
});
