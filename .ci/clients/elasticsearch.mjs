// Sends the records of a file, one a line, to a door by @elastic/elasticsearch: `node elasticsearch.mjs URL KEY FILE` ends with status 1
// where an item is refused.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';

const [node, password, file] = process.argv.slice(2);
const records = readFileSync(file, 'utf8').trimEnd().split('\n');
const BATCH = 500;
const ATTEMPTS = 300;
const client = new Client({ node, auth: { username: 'shipper', password }, compression: true, maxRetries: 5 });

async function store(operations) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      const { errors, items } = await client.bulk({ operations });
      if (errors || items.length !== BATCH) process.exitCode = 1;
      return;
    } catch (error) {
      // A program that is killed takes longer to come back than the client tries by itself.
      if (error.name !== 'ConnectionError') throw error;
      await sleep(100);
    }
  }
  process.exitCode = 1;
}

const { version } = await client.info();
console.log(`greeted by ${version.number}`);
for (let at = 0; at < records.length && process.exitCode !== 1; at += BATCH) {
  const batch = records.slice(at, at + BATCH);
  await store(batch.flatMap((record) => [{ index: { _index: 'waf', _id: 'passed over' } }, JSON.parse(record)]));
}
