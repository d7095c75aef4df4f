// Sends the records of a file, one a line, to a door by an exporter of OpenTelemetry: `node otlp.mjs proto|http URL KEY FILE` ends with
// status 1 where it is told of an error that does not go by itself.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExportResultCode } from '@opentelemetry/core';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';

const [encoding, url, key, file] = process.argv.slice(2);
const { OTLPLogExporter } = await import(`@opentelemetry/exporter-logs-otlp-${encoding}`);
const records = readFileSync(file, 'utf8').trimEnd().split('\n');
const BATCH = 500;
const ATTEMPTS = 300;
const exporter = new OTLPLogExporter({ url: `${url}/v1/logs`, headers: { authorization: `Bearer ${key}` }, compression: 'gzip' });

// The exporter tries five times by itself. A program that is killed takes longer to come back.
const patient = {
  export(batch, done, attempt = 0) {
    exporter.export(batch, async (result) => {
      const isRefused = result.code === ExportResultCode.FAILED && result.error.code >= 400 && result.error.code < 500;
      if (result.code === ExportResultCode.SUCCESS || isRefused || attempt === ATTEMPTS) {
        if (result.code !== ExportResultCode.SUCCESS) {
          console.log(result.error.message);
          process.exitCode = 1;
        }
        done(result);
        return;
      }
      await sleep(100);
      this.export(batch, done, attempt + 1);
    });
  },
  shutdown: () => exporter.shutdown(),
  forceFlush: () => exporter.forceFlush(),
};

const processor = new BatchLogRecordProcessor({
  exporter: patient,
  maxExportBatchSize: BATCH,
  maxQueueSize: 2 * BATCH,
  exportTimeoutMillis: 120_000,
});
const logger = new LoggerProvider({ processors: [processor] }).getLogger('waf');
for (let at = 0; at < records.length && process.exitCode !== 1; at += BATCH) {
  for (const [index, record] of records.slice(at, at + BATCH).entries()) {
    // Texts, lists of keys and values, and attributes, in turns.
    if (index % 3 === 0) logger.emit({ body: record });
    else if (index % 3 === 1) logger.emit({ body: JSON.parse(record) });
    else logger.emit({ body: 'a request', attributes: JSON.parse(record) });
  }
  await processor.forceFlush();
}
await processor.shutdown();
