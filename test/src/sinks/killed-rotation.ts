import { writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { sampleBatch } from './sample-events.ts';

// Delivers two events, and is killed before or after the file gets another name for the next two.

const [folder = '', when = ''] = process.argv.slice(2);
const { rename } = promises;
promises.rename = async (from, to) => {
  if (when === 'after') await rename(from, to);
  process.kill(process.pid, 'SIGKILL');
};
syncBuiltinESMExports();
// Imported last, so that it gets the function from above.
const { openFileSink } = await import('../../../src/sinks/file-sink.ts');

const state = join(folder, 'state');
const sink = await openFileSink({
  path: join(folder, 'events.ndjson'),
  rotation: { sizeBytes: 1, everyMs: null, pattern: 'old-{n}.ndjson', keep: null },
  position: null,
  record: async (position) => writeFileSync(state, JSON.stringify(position)),
  now: Date.now,
  tell: () => {},
});
await sink.deliver(sampleBatch(2), new AbortController().signal);
await sink.deliver(sampleBatch(2, 'native', 2), new AbortController().signal);
