import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { wafRecord } from '../../../../bench/events/waf-record.ts';
import { addressOf, type CliProcess, startCli } from '../../cli/cli-process.ts';

/**
 * `node foreign-client.ts NAME FORM COMMAND…` runs a client that others wrote against a program of its own: the command gets its address,
 * a key and a file with a record a line, which are events of our own form (`own`) or those of a preset (`aws-waf`), as three more
 * arguments. Once the answer to a request is lost, and once the program is killed in the middle of one. The last line begins with
 * `passed: ` where each event is there once, by a search and by the feed.
 */
const [name = '', form = '', command = '', ...options] = process.argv.slice(2);
const EVENTS = 10_000;
/** Requests from 0 on. */
const LOST_ANSWER = 2;
const KILL_AT = 4;
const [KEY, READER] = ['key-of-a-foreign-client', 'key-of-who-reads-it-all'];

const FORMS: Readonly<Record<string, (index: number, nowMs: number) => string>> = {
  own: (index, nowMs) => {
    const log = { index, text: 'ü "quoted" \\ \n' };
    return JSON.stringify({ shieldZoneId: 7, timestamp: nowMs - index, logId: `c-${index}`, ruleId: String(index % 10), log });
  },
  'aws-waf': (index, nowMs) => wafRecord(index, nowMs - index).toString(),
};
const recordOf = FORMS[form];
if (recordOf === undefined) throw new Error(`the form ${form} is none of ${Object.keys(FORMS).join(', ')}`);

const dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-foreign-client-'));
const startMs = Date.now();
const recordFile = join(dataDir, 'records.ndjson');
writeFileSync(recordFile, Array.from({ length: EVENTS }, (_, index) => `${recordOf(index, startMs)}\n`).join(''));
const env = { ACCESS_KEYS: `client:${KEY}:7:ingest${form === 'own' ? '' : `:${form}`},reader:${READER}:*` };
const args = (port: string): string[] => ['serve', '--port', port, '--data-dir', join(dataDir, 'data')];
let program: CliProcess = startCli(args('0'), env);
const url = await addressOf(program);
const { port } = new URL(url);

async function restart(): Promise<void> {
  program.child.kill('SIGKILL');
  await program.ended;
  program = startCli(args(port), env);
  await addressOf(program);
}

let requests = 0;
let restarted: Promise<void> | null = null;

/** What the program answers, with the bytes of the answer. */
async function passedOn({ method, url: path, headers }: IncomingMessage, body: Buffer, onSent: () => void) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const passed = httpRequest(`${url}${path}`, { method, headers }, resolve).on('error', reject);
  passed.end(body, onSent);
  const answer = await promise;
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { answer, bytes: Buffer.concat(chunks) };
}

const proxy = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const number = requests;
  requests += 1;
  try {
    const onSent = (): void => {
      if (number === KILL_AT) restarted = restart();
    };
    const { answer, bytes } = await passedOn(request, Buffer.concat(chunks), onSent);
    if (number === LOST_ANSWER) throw new Error('the answer is lost');
    response.writeHead(answer.statusCode ?? 0, answer.headers).end(bytes);
  } catch {
    request.socket.destroy();
  }
});
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
const client = spawn(command, [...options, proxyUrl, KEY, recordFile], { stdio: 'inherit' });
const status = await new Promise<number>((resolve, reject) => {
  client.once('error', reject);
  client.once('close', (code) => resolve(code ?? 1));
});
await restarted;

const now = Date.now();
const found = await fetch(`${url}/shield/event-logs/7/search`, {
  method: 'POST',
  headers: { accesskey: READER, 'content-type': 'application/json' },
  body: JSON.stringify({ from: now - 3_600_000, to: now + 60_000 }),
});
const { total } = (await found.json()) as { readonly total: number };
const feed = await fetch(`${url}/shield/event-logs/7/feed?limit=100000`, { headers: { accesskey: READER } });
const ids = (await feed.text())
  .split('\n')
  .filter((line) => line.includes('"logId"'))
  .map((line) => (JSON.parse(line) as { readonly logId: string }).logId);
const letters = await fetch(`${url}/ingest/dead-letters`, { headers: { accesskey: READER } });
const { deadLetters } = (await letters.json()) as { readonly deadLetters: readonly unknown[] };
const is = { status, wasKilled: restarted !== null, total, inFeed: ids.length, different: new Set(ids).size, letters: deadLetters.length };
const expected = { status: 0, wasKilled: true, total: EVENTS, inFeed: EVENTS, different: EVENTS, letters: 0 };
const isRight = JSON.stringify(is) === JSON.stringify(expected);
console.log(`${isRight ? 'passed' : 'failed'}: ${name} sent ${EVENTS} records (${form}) in ${requests} requests: ${JSON.stringify(is)}`);
process.exitCode = isRight ? 0 : 1;
proxy.closeAllConnections();
proxy.close();
program.child.kill('SIGTERM');
await program.ended;
rmSync(dataDir, { recursive: true, force: true });
