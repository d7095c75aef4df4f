import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { createTopic, testClient, uniqueName } from '../broker/test-topic.ts';
import { until } from '../broker/until.ts';
import { movedClock } from '../fixtures/moved-clock.ts';
import { Actors } from './actors.ts';
import { HttpSender, type IntakeFigures, KafkaSender } from './intake.ts';
import { FeedReader, type ReadingFigures, Searcher, walkFeed } from './readers.ts';
import { countEvents, Difference, RETENTION_HOURS, RETENTION_MS, SentEvents, ZONES } from './sent-events.ts';
import { FAULTS, type Fault, injectFaults } from './strace-faults.ts';
import { type Footprint, TorturedProgram } from './tortured-program.ts';

export interface TortureOptions {
  readonly seed: number;
  readonly minutes: number;
  /** Holds what is no data of the program. */
  readonly folder: string;
  readonly dataDir: string;
  readonly brokers: string;
  readonly injectsFaults: boolean;
  readonly print: (line: string) => void;
}

const PARTITIONS = 3;
const PROGRESS_MS = 10_000;
const MINUTE_MS = 60_000;
/** Of the time, so much has kills and faults. Half of the rest warms one process up, and half shows whether it grows. */
const KILLS_SHARE = 0.6;
/** Longer than the program keeps events unflushed. */
const UNFLUSHED_MS = 6 * MINUTE_MS;
/** Longer than a thread of the program stays without work, and than it takes to begin a merge. */
const STILL_MS = 65_000;
/** Longer than it takes to collect the garbage. */
const GARBAGE_MS = 5_000;
/** How much more the process may take at the end than when it was warm. */
const GROWTH = 1.1;
const PATIENCE_MS = 300_000;

/** One run of the torture. */
export class TortureRun {
  readonly #options: TortureOptions;
  readonly #random: SeededRandom;
  readonly #clock: ReturnType<typeof movedClock>;
  readonly #program: TorturedProgram;
  readonly #sent = new SentEvents();
  readonly #senders = new Actors();
  readonly #readers = new Actors();
  readonly #intake: IntakeFigures = { acknowledged: { HTTP: 0, Kafka: 0 }, repeated: 0, unanswered: 0 };
  readonly #reading: ReadingFigures = { searches: 0, feedEvents: 0, expiredCursors: 0, walks: 0 };
  readonly #injected: Record<Fault, number> = { SQLite: 0, 'reads of DuckDB': 0, 'merges of DuckDB': 0 };
  readonly #merges = new Set<string>();
  readonly #topic = uniqueName('torture');
  /** One follows closely, one falls behind and misses what expires. */
  readonly #followers: readonly { readonly reader: FeedReader; readonly longestPauseMs: number }[];
  readonly #footprints: Footprint[] = [];
  readonly #startedAt = performance.now();
  #aheadMs = 0;
  #phase = 'start';
  #kills = 0;
  #stops = 0;
  #endsByFaults = 0;
  #producer: Producer | undefined;

  constructor(options: TortureOptions) {
    this.#options = options;
    this.#random = this.#draws(0);
    this.#clock = movedClock(options.folder, Date.now());
    const group = uniqueName('group');
    this.#program = new TorturedProgram((life) => ({
      ...this.#clock.env,
      DATA_DIR: options.dataDir,
      RETENTION_HOURS: String(RETENTION_HOURS),
      KAFKA_BROKERS: options.brokers,
      KAFKA_TOPICS: this.#topic,
      // Mostly a group that remembers nothing: where to go on from is for the store to know.
      KAFKA_GROUP_ID: life % 5 === 0 ? group : `${group}-${life}`,
      QUERY_DEADLINE_MS: '600000',
      // What is kept in memory up to this limit is full sooner.
      MEMORY_LIMIT_MB: '256',
    }));
    this.#followers = [
      { reader: this.#reader('all'), longestPauseMs: 500 },
      { reader: this.#reader(ZONES.slice(1, 4)), longestPauseMs: 120_000 },
    ];
  }

  /** Rejects with the first difference. */
  async run(): Promise<void> {
    const { minutes, brokers, print } = this.#options;
    await createTopic(brokers, this.#topic, PARTITIONS);
    this.#producer = testClient(brokers).producer();
    await this.#producer.connect();
    this.#addActors(this.#producer);
    const progress = setInterval(() => print(this.#progressLine()), PROGRESS_MS);
    const merges = setInterval(() => this.#lookForMerges(), 250);
    try {
      const isOver = AbortSignal.timeout(Math.round(minutes * KILLS_SHARE * MINUTE_MS));
      await this.#unlessFailed(this.#killAgainAndAgain(isOver));
      await this.#unlessFailed(this.#stayAlive((minutes * (1 - KILLS_SHARE) * MINUTE_MS) / 2));
      await this.#unlessFailed(this.#lookAtAll());
    } finally {
      clearInterval(progress);
      clearInterval(merges);
    }
  }

  /** Ends what runs. */
  async stop(): Promise<void> {
    await this.#program.end('SIGKILL').catch(() => undefined);
    await this.#producer?.disconnect();
  }

  /** The figures of the run, a line each. */
  table(): string {
    const { HTTP, Kafka } = this.#intake.acknowledged;
    const [warm, end] = this.#footprints;
    const both = (read: (footprint: Footprint) => number): string =>
      [warm, end].map((each) => (each === undefined ? 'not measured' : String(Math.round(read(each))))).join(', ');
    const rows: readonly (readonly [string, string | number])[] = [
      ['seed', this.#options.seed],
      ['minutes', ((performance.now() - this.#startedAt) / MINUTE_MS).toFixed(1)],
      ['events by HTTP', HTTP],
      ['events by Kafka', Kafka],
      ['events sent again once stored', this.#intake.repeated],
      ['events never answered', this.#intake.unanswered],
      ['hours that passed for the program', Math.round((this.#aheadMs + performance.now() - this.#startedAt) / 3_600_000)],
      ['kills', this.#kills],
      ['stops by SIGTERM', this.#stops],
      ...FAULTS.map((fault) => [`calls made to fail: ${fault}`, this.#injected[fault]] as const),
      ['ends by such faults', this.#endsByFaults],
      ['merges seen', this.#merges.size],
      ['searches', this.#reading.searches],
      ['events of the feed', this.#reading.feedEvents],
      ['walks through the whole feed', this.#reading.walks],
      ['expired cursors', this.#reading.expiredCursors],
      ['refused as busy', this.#program.refusals],
      ['memory when warm and at the end, MiB', both(({ memoryMb }) => memoryMb)],
      ['open files when warm and at the end', both(({ openFiles }) => openFiles)],
    ];
    const width = Math.max(...rows.map(([name]) => name.length));
    return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
  }

  /** Each has draws of its own, so that what one draws does not depend on the speed of another. */
  #draws(number: number): SeededRandom {
    return new SeededRandom(this.#options.seed * 100 + number);
  }

  readonly #now = (): number => Date.now() + this.#aheadMs;

  get #reads() {
    return { program: this.#program, sent: this.#sent, now: this.#now, retentionMs: RETENTION_MS };
  }

  #reader(zones: readonly number[] | 'all'): FeedReader {
    return new FeedReader(this.#reads, this.#reading, zones);
  }

  #forward(ms: number): void {
    // First here: what may have expired for the program may have for us.
    this.#aheadMs += ms;
    this.#clock.setForward(ms);
  }

  #addActors(producer: Producer): void {
    const pauses = this.#draws(1);
    for (const number of [2, 3]) {
      const http = new HttpSender(this.#reads, this.#intake, this.#draws(number));
      this.#senders.add(
        () => http.send(),
        () => 100 + pauses.below(900),
      );
    }
    const kafka = new KafkaSender({ ...this.#reads, producer, topic: this.#topic, partitions: PARTITIONS }, this.#intake, this.#draws(4));
    this.#senders.add(
      () => kafka.send(),
      () => 100 + pauses.below(900),
    );
    const searcher = new Searcher(this.#reads, this.#reading, this.#draws(5));
    this.#readers.add(
      () => searcher.search(),
      () => pauses.below(200),
    );
    const limits = this.#draws(6);
    for (const { reader, longestPauseMs } of this.#followers) {
      this.#readers.add(
        () => reader.read(1 + limits.below(10_000), limits.below(3)),
        () => pauses.below(longestPauseMs),
      );
    }
    // While everybody asks, the memtable becomes too old, and some events expire.
    this.#readers.add(
      async () => this.#forward(UNFLUSHED_MS + pauses.below(4 * MINUTE_MS)),
      () => 1_500 + pauses.below([2_000, 2_000, 25_000][pauses.below(3)] ?? 1),
    );
    const isOver = (): boolean => this.#readers.isPaused;
    this.#readers.add(
      () => {
        const zones = limits.below(2) === 0 ? 'all' : ZONES.filter((_, index) => index < 2 || limits.below(2) === 0);
        return walkFeed(this.#reads, this.#reading, { zones, limit: 1_000 + limits.below(20_000), isOver });
      },
      () => 1_000 + pauses.below(10_000),
    );
  }

  #resume(): void {
    this.#senders.resume();
    this.#readers.resume();
  }

  async #pause(): Promise<void> {
    await Promise.all([this.#senders.pause(), this.#readers.pause()]);
  }

  async #unlessFailed<T>(work: Promise<T>): Promise<T> {
    return await Promise.race([work, this.#senders.failed, this.#readers.failed, this.#program.failed]);
  }

  /** Starts and ends the program, and moves its clock ahead meanwhile. */
  async #killAgainAndAgain(isOver: AbortSignal): Promise<void> {
    this.#phase = 'kills';
    this.#resume();
    while (!isOver.aborted) {
      const isShort = this.#random.below(6) === 0;
      if (isShort) {
        this.#program.begin();
        await delay(this.#random.below(2_000));
      } else {
        await this.#program.start();
        const lives = await this.#liveOn(1_000 + this.#random.below([3_000, 10_000, 25_000][this.#random.below(3)] ?? 1), isOver);
        if (!lives) continue;
      }
      if (isShort || this.#random.below(5) > 0) {
        this.#kills += 1;
        await this.#program.end('SIGKILL');
      } else {
        this.#stops += 1;
        await this.#program.end('SIGTERM');
      }
      this.#forward(this.#random.below(10) * MINUTE_MS);
    }
    await this.#program.start();
    await this.#pause();
    await this.#settle();
  }

  /** Lets a process work for a while, in which some of its files may fail. Resolves with whether it lives. */
  async #liveOn(ms: number, isOver: AbortSignal): Promise<boolean> {
    const { injectsFaults, dataDir } = this.#options;
    const half = () => delay(ms / 2, undefined, { signal: isOver }).catch(() => undefined);
    const fault = injectsFaults && this.#random.below(2) === 0 ? FAULTS[this.#random.below(FAULTS.length)] : undefined;
    await half();
    // Merges begin while nothing comes in.
    const isCalm = fault === 'merges of DuckDB' || this.#random.below(3) === 0;
    if (isCalm) await this.#senders.pause();
    const { pid } = this.#program;
    const lives =
      fault === undefined ||
      (await this.#program.survives(async () => {
        this.#injected[fault] += await injectFaults(fault, { pid, dataDir, random: this.#random });
      }));
    if (isCalm) this.#senders.resume();
    if (lives) await half();
    else this.#endsByFaults += 1;
    return lives;
  }

  /** Keeps one process under load, and looks at what it takes when it is warm and at the end. Throws `Difference` where that has grown. */
  async #stayAlive(eachMs: number): Promise<void> {
    for (const phase of ['warm-up', 'steady']) {
      this.#phase = phase;
      this.#resume();
      await delay(eachMs);
      await this.#pause();
      this.#phase = `quiet after ${phase}`;
      await this.#settle();
      this.#footprints.push(await this.#quietFootprint());
    }
    const [warm, end] = this.#footprints as [Footprint, Footprint];
    if (end.memoryMb > warm.memoryMb * GROWTH) {
      throw new Difference(`the memory has grown from ${warm.memoryMb.toFixed(0)} to ${end.memoryMb.toFixed(0)} MiB`);
    }
    if (end.openFiles > warm.openFiles * GROWTH) {
      throw new Difference(`the open files have grown from ${warm.openFiles} to ${end.openFiles}`);
    }
  }

  /** What the process takes when it has flushed and merged all that it has, has no garbage, and nobody asks it anything. */
  async #quietFootprint(): Promise<Footprint> {
    const unflushed = () => this.#program.metric('shieldlog_memtable_events');
    await until('the events to be flushed', () => this.#flushed(unflushed), Boolean, PATIENCE_MS);
    const segments = join(this.#options.dataDir, 'segments');
    const listing = () => readdirSync(segments).join();
    const searcher = new Searcher(this.#reads, this.#reading, this.#draws(9));
    let files: string;
    do {
      files = listing();
      const stillUntil = performance.now() + STILL_MS;
      while (performance.now() < stillUntil) {
        // DuckDB gives memory back while it works.
        await searcher.search();
        await delay(500);
      }
    } while (listing() !== files);
    this.#program.collectGarbage();
    await delay(GARBAGE_MS);
    return this.#program.footprint(this.#clock.env['MOVED_CLOCK_FILE'] ?? '');
  }

  async #flushed(unflushed: () => Promise<number | undefined>): Promise<boolean> {
    if ((await unflushed()) === 0) return true;
    // The memtable becomes too old.
    this.#forward(UNFLUSHED_MS);
    await delay(6_000);
    return (await unflushed()) === 0;
  }

  /** Waits until the program has read what Kafka has. From then on that has to be there, too. */
  async #settle(): Promise<void> {
    const produced = this.#sent.batches.filter(({ state }) => state === 'produced');
    const due = [...this.#sent.acknowledged(), ...produced];
    const searcher = new Searcher(this.#reads, this.#reading, this.#draws(7));
    const lacks = async (): Promise<number> => {
      const [fromMs, toMs] = [this.#now() - RETENTION_MS + MINUTE_MS, this.#now()];
      const total = await searcher.ask({ zone: 'all', fromMs, toMs, filters: [], page: { index: 0, size: 1 } });
      return total === undefined ? Infinity : countEvents(due, () => true, fromMs, toMs) - total;
    };
    await until('all events of Kafka to be found', lacks, (missing) => missing <= 0, PATIENCE_MS).catch((error: Error) => {
      throw new Difference(`events of Kafka are missing: ${error.message}\n${this.#program.log}`);
    });
    for (const batch of produced) batch.state = 'acknowledged';
  }

  /** Kills the program once more, and holds everything that it then has to what was sent. */
  async #lookAtAll(): Promise<void> {
    this.#phase = 'verdict';
    await this.#program.end('SIGKILL');
    this.#kills += 1;
    await this.#program.start();
    const due = this.#sent.acknowledged();
    for (const { reader } of this.#followers) {
      while ((await reader.read(20_000)) !== true);
      reader.received.requireAll(due, this.#now() - RETENTION_MS);
    }
    await walkFeed(this.#reads, this.#reading, { zones: 'all', limit: 20_000 });
    const searcher = new Searcher(this.#reads, this.#reading, this.#draws(8));
    for (const zone of [...ZONES, 'all'] as const) {
      const window = { zone, fromMs: this.#now() - RETENTION_MS, toMs: this.#now() };
      await searcher.ask({ ...window, filters: [], page: { index: 0, size: 500 } });
      if (zone !== 'all') await searcher.ask({ ...window, filters: [], page: 'groups' });
    }
    await this.#program.end('SIGTERM');
    this.#stops += 1;
  }

  #lookForMerges(): void {
    const segments = join(this.#options.dataDir, 'segments');
    // The first process makes it.
    for (const file of existsSync(segments) ? readdirSync(segments) : []) {
      const merge = /^(c\d+-\w+)-\d+\.parquet$/.exec(file)?.[1];
      if (merge !== undefined) this.#merges.add(merge);
    }
  }

  #progressLine(): string {
    const { HTTP, Kafka } = this.#intake.acknowledged;
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    const counts = [
      `${HTTP} by HTTP`,
      `${Kafka} by Kafka`,
      `${this.#kills} kills`,
      `${Object.values(this.#injected).reduce((sum, count) => sum + count)} faults`,
      `${this.#merges.size} merges`,
      `${this.#reading.searches} searches`,
      `${this.#reading.feedEvents} of the feed`,
      `${this.#reading.walks} walks`,
    ];
    return `${String(seconds).padStart(5)} s  ${this.#phase}: ${counts.join(', ')}`;
  }
}
