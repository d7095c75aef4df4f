// Sends the records of a file, one a line, to a door as Amazon Data Firehose does by its document: `node firehose.mjs URL KEY FILE`. Every
// answer but 200 with the id of the request is a failure, and the same request is sent again.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

const [url, key, file] = process.argv.slice(2);
const lines = readFileSync(file, 'utf8').match(/.+\n/g) ?? [];
const BATCH = 500;
const ATTEMPTS = 300;

async function deliver(batch) {
  const requestId = randomUUID();
  const records = batch.map((line) => ({ data: Buffer.from(line).toString('base64') }));
  const body = gzipSync(JSON.stringify({ requestId, timestamp: Date.now(), records }));
  const headers = {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'x-amz-firehose-protocol-version': '1.0',
    'x-amz-firehose-request-id': requestId,
    'x-amz-firehose-access-key': key,
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      const answer = await fetch(`${url}/ingest/firehose`, { method: 'POST', headers, body });
      const told = await answer.json();
      if (answer.status === 200 && told.requestId === requestId && Number.isSafeInteger(told.timestamp)) return;
      console.log(answer.status, told.errorMessage);
    } catch {
      // The connection was closed before an answer.
    }
    await sleep(100);
  }
  process.exitCode = 1;
}

for (let at = 0; at < lines.length; at += BATCH) await deliver(lines.slice(at, at + BATCH));
