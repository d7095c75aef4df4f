import { expect, test } from 'vitest';
import { SerialQueue } from '../../work/serial-queue.ts';

test('turns and pieces of work come one after the other, in the order of the calls', async () => {
  const queue = new SerialQueue();
  const done: string[] = [];
  const first = queue.turn();
  const work = queue.run(async () => done.push('work'));
  const second = queue.turn();
  const last = queue.run(async () => done.push('last'));
  {
    using _turn = await first;
    await Promise.resolve();
    done.push('first turn');
  }
  await work;
  {
    using _turn = await second;
    await Promise.resolve();
    done.push('second turn');
  }
  await last;
  expect(done).toEqual(['first turn', 'work', 'second turn', 'last']);
});

test('a turn that is disposed early, and once more at its end, lets one piece of work begin', async () => {
  const queue = new SerialQueue();
  const done: string[] = [];
  {
    using turn = await queue.turn();
    const work = queue.run(async () => done.push('work'));
    turn[Symbol.dispose]();
    await work;
    done.push('end of the turn');
  }
  await queue.idle();
  expect(done).toEqual(['work', 'end of the turn']);
});

test('a queue is idle when the turn that was taken last is disposed', async () => {
  const queue = new SerialQueue();
  const done: string[] = [];
  const turn = await queue.turn();
  const idle = queue.idle().then(() => done.push('idle'));
  await Promise.resolve();
  done.push('disposed');
  turn[Symbol.dispose]();
  await idle;
  expect(done).toEqual(['disposed', 'idle']);
});
