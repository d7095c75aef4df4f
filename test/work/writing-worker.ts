import process from 'node:process';

/**
 * Carries out `write`, which writes into the memory that it was given until it is to end, `end`, which ends the thread, and `answer`. A
 * thread cannot start once the third number of the memory is not 0.
 */
export function startWork(memory: Int32Array): (task: string) => string {
  if (Atomics.load(memory, 2) !== 0) throw new Error('no room for a thread');
  return (task) => {
    if (task === 'end') process.exit(1);
    if (task === 'answer') return 'answered';
    while (Atomics.load(memory, 1) === 0) {
      Atomics.add(memory, 0, 1);
      Atomics.notify(memory, 0);
    }
    return 'written';
  };
}
