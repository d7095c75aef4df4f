// Sends the records of a file, one a line, to a door by npm's splunk-logging: `node splunk-logging.mjs URL KEY FILE` ends with status 1
// where it is told of an error.
import { readFileSync } from 'node:fs';
import splunk from 'splunk-logging';

const [url, token, file] = process.argv.slice(2);
const records = readFileSync(file, 'utf8').trimEnd().split('\n');
const BATCH = 250;
const logger = new splunk.Logger({ url, token, maxRetries: 60, maxBatchCount: 0 });
// By default an event is wrapped, with a severity beside it.
logger.eventFormatter = (message) => message;
logger.error = (error) => {
  console.log(error.message);
  process.exitCode = 1;
};

for (let at = 0; at < records.length && process.exitCode !== 1; at += BATCH) {
  for (const record of records.slice(at, at + BATCH)) logger.send({ message: JSON.parse(record) });
  await new Promise((resolve) => logger.flush(resolve));
}
