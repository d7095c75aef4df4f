import { expect, inject, onTestFinished, test } from 'vitest';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { quietClient, serverFolder } from '../clickhouse/engine.ts';
import { startServer } from '../clickhouse/server/server-process.ts';
import { eventually } from '../fixtures/eventually.ts';
import { runSeed } from '../random/run-seed.ts';
import { FeedReader, Load } from './load-of-programs.ts';
import { NUMBERED_ZONES, NumberedEvents, SPAN_MS } from './numbered-events.ts';
import { ownProducer } from './own-producer.ts';
import { createTopic, uniqueName, withAdmin } from './test-topic.ts';
import { SideBySide } from './two-programs.ts';

/** `.ci/run` asks for fewer. */
const KILLS = killsOf(process.env['CLICKHOUSE_KILLS'] ?? '100');
const PARTITIONS = 3;
const UPLOADERS = 2;
const READS = 'reading from Kafka';
const DATABASE = 'shieldlog';
/** A kill comes when so many further events were sent, or so many uploads taken: any number below this. */
const EVENTS_BETWEEN = 2_000;
const UPLOADS_BETWEEN = 6;
/** Once in so many kills the server is killed, too. */
const KILLS_PER_SERVER = 10;
/** Generous limits for what comes after the last kill. */
const CATCH_UP = { timeout: 180_000, interval: 200 };
/** The time of a run with many kills, on a busy machine. */
const TIME_LIMIT_MS = 400_000 + KILLS * 30_000;

test(`${KILLS} kills -9 of two programs on one ClickHouse, and some of that, under load, lose nothing and repeat nothing`, {
  timeout: TIME_LIMIT_MS,
}, async () => {
  const random = new SeededRandom(runSeed());
  const folder = serverFolder();
  let server = await startServer(folder);
  onTestFinished(() => server.stop());
  const [brokers, topic] = [inject('kafkaBrokers'), uniqueName('kills')];
  await createTopic(brokers, topic, PARTITIONS);
  const producer = await ownProducer();
  const programs = new SideBySide(2, {
    STORE: 'clickhouse',
    CLICKHOUSE_URL: server.url,
    CLICKHOUSE_DATABASE: DATABASE,
    KAFKA_BROKERS: brokers,
    KAFKA_TOPICS: topic,
    KAFKA_GROUP_ID: uniqueName('group'),
  });

  const untilMs = Date.now();
  const sent = new NumberedEvents(random, untilMs);
  const options = { programs, sent, random };
  const [reader, zoneReader] = [new FeedReader('all', options), new FeedReader('3', options)];
  const load = new Load(reader, options);
  let isRead = false;
  const reading = Promise.all([reader, zoneReader].map((each) => each.readUntil(() => isRead)));
  const loading = Promise.all([load.produce(producer, topic, PARTITIONS), ...Array.from({ length: UPLOADERS }, () => load.upload())]);
  const kills = async (): Promise<number> => {
    let whileReading = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const victim = kill % 2;
      // Every other pair is killed while it reads from Kafka, whenever that is; the others as they start, or soon after.
      if (kill % 4 < 2) {
        await eventually('the program to read', () => logOf(victim).includes(READS));
        const events = sent.all.length + random.below(EVENTS_BETWEEN);
        await eventually(`${events} events are sent`, () => sent.all.length >= events);
      } else {
        const uploads = load.acknowledgedUploads + random.below(UPLOADS_BETWEEN);
        await eventually(`${uploads} uploads are taken`, () => load.acknowledgedUploads >= uploads);
      }
      if (kill % KILLS_PER_SERVER === KILLS_PER_SERVER / 2) {
        await server.kill();
        server = await startServer(folder, { port: Number(new URL(server.url).port) });
      }
      whileReading += Number(logOf(victim).includes(READS));
      await programs.restart(victim);
    }
    return whileReading;
  };
  const logOf = (index: number): string => programs.slots[index]?.program.log() ?? '';
  // Whatever of this fails first ends the test.
  const whileReading = await Promise.race([kills(), failureOf(reading), failureOf(loading)]);
  load.stop();
  await loading;

  const [ids, zoneIds] = [sent.ids(), sent.ids(3)];
  // Kafka is read on once the group has noticed that its last member is dead.
  await expect.poll(() => [...missingIn(reader, ids), ...missingIn(zoneReader, zoneIds)], CATCH_UP).toEqual([]);
  isRead = true;
  await reading;
  expect([...reader.ids].sort()).toEqual(ids);
  expect([...zoneReader.ids].sort()).toEqual(zoneIds);
  for (const [index] of programs.slots.entries()) {
    await eventually('the program listens', () => programs.slots[index]?.url !== undefined);
    await expectAll(`${programs.slots[index]?.url}/shield/event-logs`, sent, untilMs);
  }
  // A letter is written after the events of its batch are readable.
  await expect.poll(() => lettersOf(programs.slots[0]?.url ?? '')).toEqual(load.letters.toSorted());
  const client = quietClient({ url: server.url, database: DATABASE });
  onTestFinished(() => client.close());
  const numbers = async (query: string): Promise<readonly (readonly [number, string])[]> =>
    await (await client.query({ query, format: 'JSONCompactEachRow' })).json();
  const offsets = 'SELECT partition, toString(argMax(nextOffset, writtenAt)) FROM source_offsets GROUP BY partition ORDER BY partition';
  const ends = await withAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic));
  const expected = ends.map(({ partition, high }) => [partition, high]).sort(([one], [other]) => Number(one) - Number(other));
  // An offset is written after its events are readable.
  await expect.poll(() => numbers(offsets)).toEqual(expected);
  const [[, stored] = [0, '0']] = await numbers('SELECT 0, toString(count()) FROM events_local');
  const uploads = `${load.repeatedUploads} of ${load.acknowledgedUploads} uploads were repeated`;
  const figures = `${ids.length} events, stored ${stored} times, ${load.letters.length} dead letters; ${uploads}`;
  console.log(`${figures}; of ${KILLS} kills ${whileReading} came while it was reading; ${reader.handovers} handovers of the cursor`);
});

function missingIn({ ids }: FeedReader, expected: readonly string[]): string[] {
  return expected.filter((id) => !ids.has(id));
}

function killsOf(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) {
    throw new Error(`CLICKHOUSE_KILLS is "${text}"; allowed: an integer from 1 to 99999`);
  }
  return Number(text);
}

/** Rejects with the work, and never resolves. */
function failureOf(work: Promise<unknown>): Promise<never> {
  return new Promise((_, reject) => void work.catch(reject));
}

/** Asks a program for everything in every way. */
async function expectAll(url: string, sent: NumberedEvents, untilMs: number): Promise<void> {
  const window = { from: untilMs - SPAN_MS, to: untilMs };
  const [ids, byZone] = [sent.ids(), sent.countsBy('shieldZoneId')];
  const explored = JSON.parse(await answerTo(`${url}/all/explore`, { ...window, groupBy: ['country'], histogram: { buckets: 5 } }));
  expect(explored.histogram.series[0].total).toBe(ids.length);
  const groups = (explored.groups as { key: { country: string }; count: number }[]).map(({ key, count }) => [key.country, count]);
  expect(Object.fromEntries(groups)).toEqual(sent.countsBy('country'));
  const { zones } = JSON.parse(await answerTo(`${url}/zones?from=${window.from}&to=${window.to}`));
  expect(Object.fromEntries(zones.map((zone: { shieldZoneId: number; count: number }) => [zone.shieldZoneId, zone.count]))).toEqual(byZone);
  for (const zone of NUMBERED_ZONES) {
    const { total } = JSON.parse(await answerTo(`${url}/${zone}/search`, { ...window, pageSize: 1 }));
    expect([zone, total]).toEqual([zone, byZone[zone]]);
  }
  const rows = (await answerTo(`${url}/all/export`, window, 'application/x-ndjson')).trimEnd().split('\n');
  expect(rows.map((row) => JSON.parse(row).logId).sort()).toEqual(ids);
}

/** The messages of all dead letters, sorted. */
async function lettersOf(url: string): Promise<string[]> {
  const texts: string[] = [];
  for (let after = ''; ; ) {
    const { deadLetters } = JSON.parse(await answerTo(`${url}/ingest/dead-letters?limit=1000${after}`));
    if (deadLetters.length === 0) {
      return texts.sort();
    }
    texts.push(...deadLetters.map(({ text }: { readonly text: string }) => text));
    after = `&afterId=${deadLetters.at(-1).id}`;
  }
}

async function answerTo(url: string, body?: object, accept = 'application/json'): Promise<string> {
  const headers = { 'content-type': 'application/json', accept };
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return text;
}
