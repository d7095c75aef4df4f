/** Fails to start as often as `failures` says, as a thread does that gets no memory or no file. A task of 0 ends when it is given up. */
export function startWork(failures: Int32Array, isStopped: () => boolean): (task: number) => number {
  if (Atomics.sub(failures, 0, 1) > 0) {
    throw new Error('no room for a thread');
  }
  return (task) => {
    while (task === 0) {
      if (isStopped()) {
        throw new Error('given up');
      }
    }
    return task + 1;
  };
}
