// Sends so many events to a door by @elastic/elasticsearch: `node elasticsearch.mjs URL KEY EVENTS` ends with status 1 where an item is
// refused.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';

const [node, password, events] = process.argv.slice(2);
const BATCH = 500;
const ATTEMPTS = 300;
const client = new Client({ node, auth: { username: 'shipper', password }, compression: true, maxRetries: 5 });
const now = Date.now();

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
for (let index = 0; index < Number(events) && process.exitCode !== 1; ) {
  const operations = [];
  for (let end = index + BATCH; index < end; index += 1) {
    const log = { index, text: 'ü "quoted" \\ \n' };
    operations.push({ index: { _index: 'waf', _id: 'passed over' } });
    operations.push({ shieldZoneId: 7, timestamp: now - index, logId: `c-${index}`, ruleId: String(index % 10), log });
  }
  await store(operations);
}
