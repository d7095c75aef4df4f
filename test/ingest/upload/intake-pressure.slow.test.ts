import { expect, test } from 'vitest';
import { MAX_PENDING_BYTES } from '../../../ingest/event/pending-appends.ts';
import { takeInEvents } from '../../../ingest/upload/event-intake.ts';
import { alteredStore } from '../../broker/altered-store.ts';
import { storeIn, temporaryFolder } from '../../fixtures/temporary-store.ts';
import { inChunks, NOW, RULES, rawEvent } from '../event/raw-events.ts';

const large = (logId: string) => Buffer.from(`${rawEvent({ logId, log: { filling: 'x'.repeat(1_000_000) } })}\n`);

/** A real store that says it has more to do than it has, and how often it was asked. */
async function storeThatLags() {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const lag = { bytes: MAX_PENDING_BYTES + 1, asked: 0 };
  const pendingBytes = () => {
    lag.asked++;
    return store.pendingBytes() + lag.bytes;
  };
  return { store: alteredStore(store, { pendingBytes }), lag };
}

test('while the store is behind an input is not read on, and to its end afterwards', async () => {
  const { store, lag } = await storeThatLags();
  let read = 0;
  async function* input() {
    for (; read < 5; read++) {
      yield large(`e${read}`);
    }
  }
  const report = takeInEvents(input(), { store, source: 'http', ...RULES });
  await expect.poll(() => lag.asked).toBeGreaterThan(20);
  expect(read).toBe(0);
  expect((await store.stats()).events).toBe(0);
  lag.bytes = 0;
  expect(await report).toMatchObject({ accepted: 5 });
  expect((await store.stats()).events).toBe(5);
});

test('while the store is behind an input can be aborted', async () => {
  const { store, lag } = await storeThatLags();
  const reason = new Error('the client hung up');
  const aborting = new AbortController();
  const report = takeInEvents(inChunks(large('a'), 1000), { store, source: 'http', ...RULES, signal: aborting.signal });
  void expect
    .poll(() => lag.asked)
    .toBeGreaterThan(5)
    .then(() => aborting.abort(reason));
  await expect(report).rejects.toBe(reason);
});

test('many inputs at the same time hand over no more than the limit together', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const gate = Promise.withResolvers<void>();
  const pendingThen: number[] = [];
  let [held, heldEvents] = [0, 0];
  const slow = alteredStore(store, {
    pendingBytes: () => held + store.pendingBytes(),
    append: async (batch) => {
      const bytes = [...batch.fields.values.flat(), ...batch.fields.masks, ...batch.logs].reduce(
        (sum, { byteLength }) => sum + byteLength,
        0,
      );
      pendingThen.push(held + store.pendingBytes());
      held += bytes;
      heldEvents += batch.eventCount;
      await gate.promise;
      held -= bytes;
      return await store.append(batch);
    },
  });
  async function* input(index: number) {
    for (let part = 0; part < 4; part++) {
      yield large(`e${index}-${part}`);
    }
  }
  const intakes = Array.from({ length: 25 }, (_, index) => takeInEvents(input(index), { store: slow, source: 'http', ...RULES }));
  await expect.poll(() => held).toBeGreaterThan(MAX_PENDING_BYTES);
  expect(heldEvents).toBeLessThan(100);
  gate.resolve();
  await Promise.all(intakes);
  expect(Math.max(...pendingThen)).toBeLessThanOrEqual(MAX_PENDING_BYTES);
  expect((await store.stats()).events).toBe(100);
});

test('many inputs that wait for their appends hand over no more than the limit when those are done at once', async () => {
  const store = await storeIn(temporaryFolder(), { now: () => NOW });
  const gate = Promise.withResolvers<void>();
  const pendingThen: number[] = [];
  let [held, asked, stored, given] = [0, 0, 0, 0];
  const slow = alteredStore(store, {
    pendingBytes: () => {
      asked++;
      return held;
    },
    append: async (batch) => {
      const bytes = [...batch.fields.values.flat(), ...batch.logs].reduce((sum, { byteLength }) => sum + byteLength, 0);
      pendingThen.push(held);
      held += bytes;
      const receipt = await store.append(batch);
      stored++;
      await gate.promise;
      held -= bytes;
      return receipt;
    },
  });
  // Of each input three appends are under way, and the next batch is full by its 17th event.
  const [inputs, appends, parts] = [8, 3, 17];
  async function* input(index: number) {
    for (let append = 1; append <= appends; append++) {
      yield Buffer.from(`${rawEvent({ logId: `s${index}-${append}` })}\n`);
      await expect.poll(() => stored).toBeGreaterThanOrEqual(append * inputs);
    }
    for (let part = 0; part < 2 * parts; part++, given++) yield large(`e${index}-${part}`);
  }
  const intakes = Array.from({ length: inputs }, (_, index) => takeInEvents(input(index), { store: slow, source: 'http', ...RULES }));
  let askedBefore = -1;
  const allWait = (): boolean => {
    const isSame = asked === askedBefore;
    askedBefore = asked;
    return isSame && given === inputs * (parts - 1);
  };
  await expect.poll(allWait).toBe(true);
  gate.resolve();
  await Promise.all(intakes);
  expect(Math.max(...pendingThen)).toBeLessThanOrEqual(MAX_PENDING_BYTES);
  expect((await store.stats()).events).toBe(inputs * (appends + 2 * parts));
});
