import { workerData } from 'piscina';

// Fails while it starts as often as `workerData` says, as a thread does that gets no memory or no file.
if (Atomics.sub(workerData as Int32Array, 0, 1) > 0) {
  throw new Error('no room for a thread');
}

export default (order: number): number => order + 1;
