import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createSpecReader, type SpecReader } from '../../../../edge/local/api-guardian/spec-thread.ts';
import { petSpecification } from './specification.ts';

const OPTIONS = { deadlineMs: 20_000, memoryMb: 512, maxWaiting: 1 };

/** Half a million values, each an object in the parser: seconds of work, hundreds of megabytes. */
const HEAVY = '- a\n'.repeat(500_000);

let reader: SpecReader;

afterEach(() => reader.stop());

describe('a reader in a thread of its own', () => {
  test('answers with what it read, or what is wrong', async () => {
    reader = createSpecReader(OPTIONS);
    expect(await reader.read(JSON.stringify(petSpecification()))).toMatchObject({ kind: 'accepted', spec: { title: 'Pets' } });
    expect(await reader.read('a: [')).toMatchObject({ kind: 'refused', errors: [{ field: 'content' }] });
  });

  test('leaves the main thread free while it reads', async () => {
    reader = createSpecReader({ ...OPTIONS, deadlineMs: 600 });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await reader.read(HEAVY);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  test('is ended past its deadline, and the next one is read', async () => {
    reader = createSpecReader({ ...OPTIONS, deadlineMs: 300 });
    expect(await reader.read(HEAVY)).toEqual({
      kind: 'refused',
      errors: [{ field: 'content', message: 'it takes more than 300 ms to read; allowed: a simpler specification' }],
    });
    await reader.stop();
    reader = createSpecReader({ ...OPTIONS, deadlineMs: 240_000, memoryMb: 48 });
    const [large, small] = await Promise.all([reader.read(HEAVY), reader.read(JSON.stringify(petSpecification()))]);
    expect(large).toEqual({
      kind: 'refused',
      errors: [{ field: 'content', message: 'it takes more than 48 MB of memory to read; allowed: a simpler specification' }],
    });
    expect(small).toMatchObject({ kind: 'accepted' });
  });

  test('takes no more than may wait', async () => {
    reader = createSpecReader(OPTIONS);
    const readings = [1, 2, 3].map(() => reader.read('{}'));
    expect(readings.map((reading) => reading === null)).toEqual([false, false, true]);
    await Promise.all(readings);
    expect(await reader.read('{}')).toMatchObject({ kind: 'refused' });
  });

  test('rejects what is under way and what waits when the program stops', async () => {
    reader = createSpecReader(OPTIONS);
    const readings = [reader.read(HEAVY), reader.read('{}')];
    const settled = Promise.allSettled(readings);
    // Now the first one has its thread.
    await setImmediate();
    await reader.stop();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
