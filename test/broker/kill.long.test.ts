import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, it, onTestFinished } from 'vitest';
import { generateEvents } from '../../bench/events/event-generator.ts';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { runSeed } from '../random/run-seed.ts';
import { logIdOf, ZONE } from './event-file.ts';
import { produceLines } from './foreign-producer.ts';
import { startProgramProcess, totalOverHttp } from './program-under-test.ts';
import { searchedIds } from './source-under-test.ts';
import { createTopic, uniqueName } from './test-topic.ts';
import { until } from './until.ts';

const KILLS = 20;
/**
 * The program reads within about two seconds of its start. Every other kill waits for that, however long it takes: one that never came
 * while it read would prove nothing.
 */
const LONGEST_LIFE_MS = 4_500;
const LONGEST_READING_MS = 2_500;
const READS = 'reading from Kafka';
const CHUNK = 80;
const MOST_PER_MESSAGE = 5;
const CHUNK_INTERVAL_MS = 50;

/** A message of one to several of these events, the largest share of them an array. */
function messageOf(events: readonly Buffer[]): Buffer {
  const texts = events.map((line) => line.toString().trimEnd());
  return Buffer.from(texts.length === 1 ? `${texts[0]}\n` : texts.length === 2 ? `${texts.join('')}\n` : `[${texts.join()}]\n`);
}

/** Events at a steady pace until told to stop, in messages of up to `MOST_PER_MESSAGE`; notes the id of each. */
async function* load(ids: string[], stopped: AbortSignal): AsyncIterable<Buffer> {
  const events = generateEvents({ seed: 5, count: 10_000_000, zones: 1, nowMs: Date.now() + 60 * 3_600_000, spanMs: 71 * 3_600_000 })[
    Symbol.iterator
  ]();
  while (!stopped.aborted) {
    const chunk: Buffer[] = [];
    while (chunk.length < CHUNK) {
      const count = 1 + (ids.length % MOST_PER_MESSAGE);
      const lines = Array.from({ length: count }, () => (events.next() as { readonly value: Buffer }).value);
      ids.push(...lines.map(logIdOf));
      chunk.push(messageOf(lines));
    }
    yield Buffer.concat(chunk);
    await delay(CHUNK_INTERVAL_MS);
  }
}

/** A mapping by which records of these sites have the zone of the tests. */
function mappingOf(...sites: string[]): string {
  const table = sites.map((site) => `${site}: ${ZONE}`).join(', ');
  return `timestamp: {path: t, time: unix}\nid: [id]\nzone: {path: site, table: {${table}}}\nitems: records\n`;
}

/** So many records of another product come with each chunk of events; one in `BLOG_EVERY` has no zone until the mapping has its site. */
const RECORDS = 40;
const BLOG_EVERY = 25;

/** A message of one record, of several in an envelope, or of an array. */
function recordMessageOf(records: readonly string[]): string {
  return records.length === 1
    ? `${records[0]}\n`
    : records.length % 2 === 0
      ? `{"records":[${records.join()}]}\n`
      : `[${records.join()}]\n`;
}

/** Records at a steady pace until told to stop, each in two messages; notes the id of each. */
async function* recordLoad(ids: string[], stopped: AbortSignal): AsyncIterable<Buffer> {
  let before = '';
  while (!stopped.aborted || before !== '') {
    const messages: string[] = [];
    for (let left = stopped.aborted ? 0 : RECORDS; left > 0; ) {
      const records = Array.from({ length: 1 + (messages.length % MOST_PER_MESSAGE) }, () => {
        const id = `record-${String(ids.length).padStart(6, '0')}`;
        ids.push(id);
        return JSON.stringify({ id, t: Date.now(), site: ids.length % BLOG_EVERY === 0 ? 'blog' : 'shop' });
      });
      left -= records.length;
      messages.push(recordMessageOf(records));
    }
    const now = messages.join('');
    yield Buffer.from(before + now);
    before = now;
    await delay(CHUNK_INTERVAL_MS);
  }
}

it(`kill -9 at ${KILLS} random moments under load loses nothing and repeats nothing`, async () => {
  const random = new SeededRandom(runSeed());
  const brokers = inject('kafkaBrokers');
  const [topic, mapped] = [uniqueName('kill'), uniqueName('mapped')];
  await createTopic(brokers, topic, 3);
  await createTopic(brokers, mapped, 2);
  const mappings = temporaryFolder();
  const setSites = (...sites: string[]): void => writeFileSync(join(mappings, 'waf.yaml'), mappingOf(...sites));
  setSites('shop');
  const dataDir = join(temporaryFolder(), 'data');
  const groups = [uniqueName('group'), uniqueName('group')];
  const start = (round: number) =>
    startProgramProcess({
      DATA_DIR: dataDir,
      KAFKA_BROKERS: brokers,
      MAPPINGS: mappings,
      KAFKA_TOPICS: `${mapped}=waf,${topic}`,
      // Mostly a group that remembers nothing: where to go on from is for the store to know. A group that was killed waits for its dead
      // member.
      KAFKA_GROUP_ID: round % 5 === 0 ? (groups[0] as string) : `${groups[1]}-${round}`,
    });

  const ids: string[] = [];
  const recordIds: string[] = [];
  const loading = new AbortController();
  onTestFinished(() => loading.abort());
  const produced = Promise.all([
    produceLines(brokers, topic, Readable.from(load(ids, loading.signal)), 'zstd'),
    produceLines(brokers, mapped, Readable.from(recordLoad(recordIds, loading.signal)), 'gzip'),
  ]);
  let reading = 0;
  for (let round = 1; round <= KILLS; round++) {
    const program = start(round);
    if (round % 2 === 0) {
      await until('the program to read', () => program.log().includes(READS));
      await delay(random.below(LONGEST_READING_MS));
    } else {
      await delay(random.below(LONGEST_LIFE_MS));
    }
    const ended = await program.kill('SIGKILL');
    expect(ended, program.log()).toBe('SIGKILL');
    reading += program.log().includes(READS) ? 1 : 0;
  }
  loading.abort();
  await produced;

  const blogs = Math.floor(recordIds.length / BLOG_EVERY);
  const untilFound = async (address: string, events: number): Promise<void> => {
    await until(
      `${events} events to be found over HTTP`,
      () => totalOverHttp(address, ZONE),
      (total) => total >= events,
      120_000,
    );
  };
  let last = start(KILLS + 1);
  await untilFound(await last.address, ids.length + recordIds.length - blogs);
  expect(await last.kill('SIGTERM'), last.log()).toBe(0);
  // The records that had no zone have one now, and were sent twice, too.
  setSites('shop', 'blog');
  last = start(KILLS + 2);
  const address = await last.address;
  const replayed = await fetch(`${address}/ingest/dead-letters/replay`, { method: 'POST' });
  expect(await replayed.json()).toEqual({ replayed: 2 * blogs, stillRejected: 0, notReplayable: 0 });
  await untilFound(address, ids.length + recordIds.length);
  expect(await last.kill('SIGTERM'), last.log()).toBe(0);
  const store = await storeIn(dataDir);
  const found = await searchedIds(store);
  expect(found.length).toBe(ids.length + recordIds.length);
  expect(found).toEqual([...ids, ...recordIds].sort());
  // Nothing else was read twice, only to be recognised by its id.
  expect((await store.stats()).duplicateEvents).toBe(recordIds.length);
  const sent = `${ids.length} events and ${recordIds.length} records`;
  console.log(`${sent}; of ${KILLS} kills ${reading} came while it was reading, the others while it started`);
});
