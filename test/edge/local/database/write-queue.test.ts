import { expect, test } from 'vitest';
import { type LockedWriter, makeWriteQueue } from '../../../../edge/local/database/write-queue.ts';

interface Told {
  readonly told: boolean[];
  readonly writer: LockedWriter;
}

function aWriter(): Told {
  const told: boolean[] = [];
  return { told, writer: (mayTry) => void told.push(mayTry) };
}

test('the first that found the database locked tries again, when a request of another has ended, and the others wait', () => {
  const queue = makeWriteQueue(60_000);
  const [first, second, other] = [aWriter(), aWriter(), aWriter()];
  for (const { writer } of [first, second]) queue.locked(writer);
  queue.ended(other.writer);
  expect([first.told, second.told, other.told]).toEqual([[true], [], []]);
  queue.ended(other.writer);
  expect(first.told).toEqual([true]);
  // In vain: it stays the first.
  queue.locked(first.writer);
  queue.ended(other.writer);
  expect([first.told, second.told]).toEqual([[true, true], []]);
  queue.ended(first.writer);
  expect([first.told, second.told]).toEqual([[true, true], [true]]);
  queue.locked(first.writer);
  queue.ended(second.writer);
  expect([first.told, second.told]).toEqual([[true, true, true], [true]]);
  queue.ended(first.writer);
});

test('the first tries by itself, too', async () => {
  const queue = makeWriteQueue(60_000);
  const { told, writer } = aWriter();
  queue.locked(writer);
  await expect.poll(() => told).toEqual([true]);
  queue.ended(writer);
});

test('one that has waited for too long is told once, the first after it has tried, and whoever tries is not stopped', async () => {
  const queue = makeWriteQueue(0);
  const [first, second, third] = [aWriter(), aWriter(), aWriter()];
  queue.locked(third.writer);
  queue.locked(first.writer);
  await expect.poll(() => [third.told, first.told]).toEqual([[true], [false]]);
  queue.locked(third.writer);
  await expect.poll(() => third.told).toEqual([true, false]);
  const patient = makeWriteQueue(60_000);
  for (const { writer } of [first, second]) patient.locked(writer);
  patient.ended(aWriter().writer);
  expect([first.told, second.told]).toEqual([[false, true], []]);
  // The process of the first has ended.
  patient.ended(first.writer);
  expect(second.told).toEqual([true]);
  patient.ended(second.writer);
});
