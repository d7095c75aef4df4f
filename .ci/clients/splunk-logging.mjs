// Sends so many events to a door by npm's splunk-logging: `node splunk-logging.mjs URL KEY EVENTS` ends with status 1 where it is told of
// an error.
import splunk from 'splunk-logging';

const [url, token, events] = process.argv.slice(2);
const BATCH = 250;
const now = Date.now();
const logger = new splunk.Logger({ url, token, maxRetries: 60, maxBatchCount: 0 });
// By default an event is wrapped, with a severity beside it.
logger.eventFormatter = (message) => message;
logger.error = (error) => {
  console.log(error.message);
  process.exitCode = 1;
};

for (let index = 0; index < Number(events) && process.exitCode !== 1; ) {
  for (let end = index + BATCH; index < end; index += 1) {
    const log = { index, text: 'ü "quoted" \\ \n' };
    logger.send({ message: { shieldZoneId: 7, timestamp: now - index, logId: `c-${index}`, ruleId: String(index % 10), log } });
  }
  await new Promise((resolve) => logger.flush(resolve));
}
