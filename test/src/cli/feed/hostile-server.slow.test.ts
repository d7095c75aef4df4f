import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { killAll, runCli } from '../cli-process.ts';

/** Clears the screen, sets the window's title, and writes a line of its own, in all the ways a terminal knows. */
const ACTING = '\u001b[2J\u001b]0;owned\u0007\r\nshieldlog: accepted 5\u009b31m\u2028\u202eevil\u007f';
const ESCAPED = String.raw`\u001b[2J\u001b]0;owned\u0007\u000d\u000ashieldlog: accepted 5\u009b31m\u2028\u202eevil\u007f`;
/** A refusal is told on one line, with a space for what would begin another. */
const ON_ONE_LINE = String.raw`\u001b[2J\u001b]0;owned\u0007 shieldlog: accepted 5\u009b31m \u202eevil\u007f`;

let folder: string;
let events: string;
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-hostile-'));
  events = join(folder, 'events.ndjson');
  writeFileSync(events, '{"shieldZoneId":7,"timestamp":1}\n');
});

afterEach(async () => {
  await killAll();
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** The URL of a server that answers so once it has the whole request. */
async function serving(listener: RequestListener): Promise<string> {
  server = createServer((request, response) => {
    request.resume().once('end', () => listener(request, response));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server?.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (status: number, body: unknown) =>
  serving((_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)));

const intakeAnswer = (fields: object) => ({ accepted: 0, expired: 0, rejected: [], rejectedCount: 0, duplicates: 0, ...fields });

/** Everything but the ends of lines is shown, not done. */
function expectHarmless({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): void {
  expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\u2028\u202e]/u);
}

describe('shieldlog ingest', () => {
  test('shows the control characters of a refusal', async () => {
    const url = await answering(400, { detail: ACTING });
    const told = await runCli(['ingest', '--url', url, events]);
    expect(told).toMatchObject({ status: 1, stdout: '', stderr: `shieldlog: the program answered 400: ${ON_ONE_LINE}\n` });
    expectHarmless(told);
  });

  test('shows those of the reasons for which events are rejected', async () => {
    const url = await answering(202, intakeAnswer({ rejected: [{ index: 0, line: 1, reason: ACTING }], rejectedCount: 1 }));
    const told = await runCli(['ingest', '--url', url, events]);
    expect(told.status).toBe(1);
    expect(told.stderr).toContain(ESCAPED);
    expectHarmless(told);
  });

  test("shows those of a file's name", async () => {
    const told = await runCli(['ingest', join(folder, ACTING)]);
    expect(told.status).toBe(1);
    expect(told.stderr).toContain(ESCAPED);
    expectHarmless(told);
  });

  test.each([
    ['a text', 'yes'],
    ['null', null],
    ['a list', []],
    ['a count that is a text', intakeAnswer({ accepted: ACTING })],
    ['a count below 0', intakeAnswer({ expired: -1 })],
    ['a count that is no integer', intakeAnswer({ rejectedCount: 0.5 })],
    ['rejections that are no list', intakeAnswer({ rejected: { length: 1 } })],
    ['a rejection without a reason', intakeAnswer({ rejected: [{ index: 0, line: 1 }], rejectedCount: 1 })],
    ['a rejection without a line', intakeAnswer({ rejected: [{ index: 0, reason: 'no' }], rejectedCount: 1 })],
    ['duplicates that are no number', intakeAnswer({ duplicates: '1' })],
    ['a rejection whose index is a text', intakeAnswer({ rejected: [{ index: ACTING, reason: 'x' }], rejectedCount: 1 })],
  ])('does not believe an answer that is %s', async (_what, body) => {
    const told = await runCli(['ingest', '--url', await answering(202, body), events]);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toMatch(
      /^shieldlog: what answered 202 is no shieldlog: its answer is [^\n]+; sending the same events again stores nothing twice\n$/,
    );
    expectHarmless(told);
  });

  test.each([202, 400])('stops reading an answer %i that does not end', async (status) => {
    const url = await serving((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const told = await runCli(['ingest', '--url', url, events]);
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toBe(
      `shieldlog: what answered is no shieldlog: the answer of ${url}/ingest/events is longer than 16777216 bytes; ` +
        'sending the same events again stores nothing twice\n',
    );
  });
});

describe('shieldlog feed', () => {
  test('shows the control characters of a refusal', async () => {
    const url = await answering(403, { status: 403, detail: ACTING, errorKey: 'access.zone_denied' });
    const told = await runCli(['feed', '--url', url, '--zone', '7', '--once', '--state', join(folder, 'state'), '--to', '-']);
    expect(told.status).toBe(1);
    expect(told.stderr).toContain('owned');
    expectHarmless(told);
  });
});

test('a command that does not exist is named with its control characters shown', async () => {
  const told = await runCli([ACTING]);
  expect(told).toMatchObject({ status: 2, stdout: '' });
  expect(told.stderr).toContain(ESCAPED);
  expectHarmless(told);
});
