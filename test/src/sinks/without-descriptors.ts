import { closeSync, openSync } from 'node:fs';
import { openFileSink } from '../../../src/sinks/file-sink.ts';
import { DeliveryError } from '../../../src/sinks/sink.ts';

// Opens a file while this process has no file descriptor left, and once it has some again. Prints how each attempt ended.

const [path = ''] = process.argv.slice(2);

async function attempt(): Promise<string> {
  try {
    const sink = await openFileSink({
      path,
      rotation: { sizeBytes: null, everyMs: null, pattern: '{n}', keep: null },
      position: null,
      record: async () => {},
      now: Date.now,
      tell: () => {},
    });
    await sink.close();
    return 'opened';
  } catch (error) {
    return error instanceof DeliveryError ? `${error.code}: ${error.message}` : String(error);
  }
}

const taken: number[] = [];
let isFull = false;
while (!isFull) {
  try {
    taken.push(openSync('/dev/null', 'r'));
  } catch {
    isFull = true;
  }
}
const first = await attempt();
for (const descriptor of taken) closeSync(descriptor);
console.log(JSON.stringify([first, await attempt()]));
