import { afterAll, expect, test } from 'vitest';
import { MappingThreads } from '../../../ingest/upload/mapping-threads.ts';
import { type MappedInput, mappedInput, type RecordInputOptions } from '../../../ingest/upload/record-input.ts';
import { MainThreadTurns } from '../../../work/main-thread-turns.ts';
import { mappingOf } from '../mapping/mapped.ts';

const MAPPING = mappingOf('timestamp: {path: t, time: unix}\nua: a');
const threads = new MappingThreads(new Map([['own', { mapping: MAPPING, file: '', text: '', isPreset: false }]]));
const PART_BYTES = 64 * 1024;

afterAll(() => threads.close());

function inputOf(chunks: AsyncIterable<Uint8Array>, rest: Partial<RecordInputOptions> = {}): AsyncGenerator<MappedInput, void> {
  const mapping = { threads, name: 'own', zones: { given: 7, fallback: null, opened: 'all' } } as const;
  return mappedInput(chunks, { source: 'http', mapping, turns: new MainThreadTurns(), maxBytes: Number.POSITIVE_INFINITY, ...rest });
}

const LINE = `${`{"t":1795838661558,"a":"${'x'.repeat(900)}"}`.padEnd(1_023)}\n`;
/** A part of 64 records. */
const PART = Buffer.from(LINE.repeat(64));

/** Counts the parts that are read of so many. */
class Parts {
  read = 0;
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (; this.read < this.#count; this.read++) yield PART;
  }
}

const outcomesOf = (one: MappedInput): number => (one.kind === 'stray' ? 1 : one.piece.kinds.length);

test('an input is read on only while few of its records are mapped and not taken in', async () => {
  const parts = new Parts(200);
  const input = inputOf(parts);
  let [pieces, taken, most] = [0, 0, 0];
  for await (const one of input) {
    pieces += 1;
    taken += outcomesOf(one);
    most = Math.max(most, parts.read - taken / 64);
  }
  expect([parts.read, taken]).toEqual([200, 200 * 64]);
  expect(pieces).toBeGreaterThan(40);
  // Two batches that are mapped, one that is collected, and a part.
  expect(most * PART_BYTES).toBeLessThanOrEqual(3 * 256 * 1024 + 2 * PART_BYTES);
});

test('inputs that are given up leave room for others', async () => {
  for (let times = 0; times < 20; times++) {
    const input = inputOf(new Parts(40));
    expect((await input.next()).done).toBe(false);
    await input.return();
  }
  expect(threads.hasRoom).toBe(true);
  let taken = 0;
  for await (const one of inputOf(new Parts(10))) taken += outcomesOf(one);
  expect(taken).toBe(640);
});

test('an input without room for its records ends with the error behind what came before', async () => {
  const full = new Error('full');
  const held: number[] = [];
  const hold = (part: string, bytes: number): void => {
    if (part !== 'records') return;
    held.push(bytes);
    if (held.length === 7) throw full;
  };
  let taken = 0;
  const read = async (): Promise<void> => {
    for await (const one of inputOf(new Parts(40), { memory: { hold } })) taken += outcomesOf(one);
  };
  await expect(read()).rejects.toBe(full);
  expect(taken).toBeGreaterThan(3 * 64);
  expect(taken % 64).toBe(0);
  expect(Math.max(...held)).toBeGreaterThan(PART_BYTES);
  expect(Math.max(...held)).toBeLessThanOrEqual(2 * 256 * 1024 + PART_BYTES);
});

test('an input that breaks off has all of its whole records mapped before', async () => {
  const broken = new Error('broken');
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield PART;
    yield Buffer.from('{"t":');
    throw broken;
  }
  let taken = 0;
  const read = async (): Promise<void> => {
    for await (const one of inputOf(chunks())) taken += outcomesOf(one);
  };
  await expect(read()).rejects.toBe(broken);
  expect(taken).toBe(64);
});
