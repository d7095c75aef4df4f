// Preloaded into the program (`node --import`): its main thread collects all garbage on SIGUSR2, so that what it takes then does not depend
// on when V8 would have done so.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGUSR2', () => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  });
}
