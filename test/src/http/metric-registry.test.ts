import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ask, startApp } from '../running-app.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function stoppedApp(): Promise<WeakRef<object>> {
  const running = await startApp();
  const { text } = await ask(running, '/metrics');
  for (const name of ['nodejs_gc_duration_seconds', 'nodejs_eventloop_lag_seconds', 'process_resident_memory_bytes']) {
    expect(text).toContain(`\n${name}`);
  }
  await running.stop();
  return new WeakRef(running.app);
}

test('each app tells the metrics of its process, which do not keep one that has stopped', async () => {
  const stopped = [await stoppedApp(), await stoppedApp()];
  const kept = (): number => {
    collectGarbage();
    return stopped.filter((app) => app.deref() !== undefined).length;
  };
  await expect.poll(kept).toBe(0);
});
