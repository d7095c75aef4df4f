import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import { SeededRandom } from '../../bench/events/seeded-random.ts';
import { createTopic, testClient, uniqueName } from '../broker/test-topic.ts';
import { until } from '../broker/until.ts';
import { Actors } from './actors.ts';
import { HttpSender, type IntakeFigures, KafkaSender } from './intake.ts';
import { Letters } from './letters.ts';
import { exportAll, FeedReader, type ReadingFigures, Searcher, walkFeed } from './readers.ts';
import { countEvents, Difference, RETENTION_MS, SentEvents, ZONES } from './sent-events.ts';
import { SharedServer, TROUBLES } from './shared-server.ts';
import type { TortureOptions } from './torture-run.ts';
import { type Answer, type Question, TorturedProgram } from './tortured-program.ts';

const PROGRAMS = 2;
const PARTITIONS = 3;
const PROGRESS_MS = 10_000;
const MINUTE_MS = 60_000;
/** Many small batches, so that many of them are on their way when something happens. */
const MOST_OF_A_BATCH = [3, 30, 100, 300, 600];
const PATIENCE_MS = 300_000;
/** Two readers share the zones. */
const HALVES = ['1/2', '2/2'].map((part, index) => ({ part, zones: ZONES.filter((zone) => zone % 2 === index) }));

/** One run of the torture of two programs on one ClickHouse server. */
export class ClickhouseTortureRun {
  readonly #options: TortureOptions;
  readonly #random: SeededRandom;
  readonly #programs: readonly TorturedProgram[];
  readonly #sent = new SentEvents(MOST_OF_A_BATCH);
  readonly #senders = new Actors();
  readonly #readers = new Actors();
  readonly #troubles = new Actors();
  readonly #intake: IntakeFigures = { acknowledged: { HTTP: 0, Kafka: 0 }, repeated: 0, unanswered: 0 };
  readonly #reading: ReadingFigures = { searches: 0, feedEvents: 0, expiredCursors: 0, walks: 0 };
  readonly #topic = uniqueName('torture');
  readonly #followers: readonly FeedReader[];
  readonly #letters: Letters;
  readonly #startedAt = performance.now();
  readonly #fromMs = Date.now() - RETENTION_MS;
  #phase = 'start';
  #kills = 0;
  #stops = 0;
  #server: SharedServer | undefined;
  #producer: Producer | undefined;

  constructor(options: TortureOptions) {
    this.#options = options;
    this.#random = this.#draws(0);
    const group = uniqueName('group');
    this.#programs = Array.from({ length: PROGRAMS }, (_, program) => {
      const variables = () => ({
        STORE: 'clickhouse',
        CLICKHOUSE_URL: this.#server?.urlOf(program) ?? '',
        DATA_DIR: join(options.dataDir, `program-${program}`),
        KAFKA_BROKERS: options.brokers,
        KAFKA_TOPICS: this.#topic,
        KAFKA_GROUP_ID: group,
        QUERY_DEADLINE_MS: '600000',
        MEMORY_LIMIT_MB: '256',
      });
      return new TorturedProgram(variables, () => this.#phase === 'troubles');
    });
    this.#letters = new Letters(this.#reads);
    this.#followers = [
      this.#reader('all'),
      this.#reader(ZONES.slice(1, 4)),
      ...HALVES.map(({ part, zones }) => new FeedReader(this.#reads, this.#reading, zones, part)),
    ];
  }

  /** Rejects with the first difference. */
  async run(): Promise<void> {
    const { minutes, brokers, dataDir, print } = this.#options;
    this.#server = await SharedServer.start(join(dataDir, 'server'), PROGRAMS, this.#draws(1));
    await createTopic(brokers, this.#topic, PARTITIONS);
    this.#producer = testClient(brokers).producer();
    await this.#producer.connect();
    this.#addActors(this.#server, this.#producer);
    const progress = setInterval(() => print(this.#progressLine()), PROGRESS_MS);
    try {
      await this.#unlessFailed(Promise.all(this.#programs.map((program) => program.start())));
      this.#phase = 'troubles';
      for (const actors of [this.#senders, this.#readers, this.#troubles]) actors.resume();
      await this.#unlessFailed(delay(minutes * MINUTE_MS));
      await this.#unlessFailed(this.#calmDown(this.#server));
      await this.#unlessFailed(this.#lookAtAll());
    } finally {
      clearInterval(progress);
    }
  }

  /** Ends what runs. */
  async stop(keepsFolder: boolean): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.end('SIGKILL').catch(() => undefined)));
    await this.#producer?.disconnect();
    await this.#server?.stop(keepsFolder);
  }

  /** The figures of the run, a line each. */
  table(): string {
    const { HTTP, Kafka } = this.#intake.acknowledged;
    const rows: readonly (readonly [string, string | number])[] = [
      ['seed', this.#options.seed],
      ['minutes', this.#minutes.toFixed(1)],
      ['events by HTTP', HTTP],
      ['events by Kafka', Kafka],
      ['events sent again once stored', this.#intake.repeated],
      ['events never answered', this.#intake.unanswered],
      ['dead letters', this.#letters.sent],
      ['kills of a program', this.#kills],
      ['stops by SIGTERM', this.#stops],
      ...TROUBLES.map((trouble) => [trouble, this.#server?.counts[trouble] ?? 0] as const),
      ['longest step back, seconds', Math.round((this.#server?.longestStepBackMs ?? 0) / 1_000)],
      ['searches', this.#reading.searches],
      ['events of the feed', this.#reading.feedEvents],
      ['refused as busy', this.#programs.reduce((sum, { refusals }) => sum + refusals, 0)],
    ];
    const width = Math.max(...rows.map(([name]) => name.length));
    return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
  }

  get #minutes(): number {
    return (performance.now() - this.#startedAt) / MINUTE_MS;
  }

  /** Each has draws of its own, so that what one draws does not depend on the speed of another. */
  #draws(number: number): SeededRandom {
    return new SeededRandom(this.#options.seed * 100 + number);
  }

  /** Asks one of the programs that listen, whichever the draw is. */
  readonly #ask = (path: string, question?: Question): Promise<Answer | undefined> => {
    const up = this.#programs.filter(({ isUp }) => isUp);
    const among = up.length === 0 ? this.#programs : up;
    return (among[this.#random.below(among.length)] as TorturedProgram).ask(path, question);
  };

  get #reads() {
    return { program: { ask: this.#ask }, sent: this.#sent, now: Date.now, retentionMs: Number.POSITIVE_INFINITY };
  }

  #reader(zones: readonly number[] | 'all'): FeedReader {
    return new FeedReader(this.#reads, this.#reading, zones);
  }

  #addActors(server: SharedServer, producer: Producer): void {
    const pauses = this.#draws(2);
    const often = (): number => 100 + pauses.below(600);
    for (const number of [3, 4]) {
      const http = new HttpSender(this.#reads, this.#intake, this.#draws(number));
      this.#senders.add(() => http.send(), often);
    }
    const kafka = { ...this.#reads, producer, topic: this.#topic, partitions: PARTITIONS };
    const sender = new KafkaSender(kafka, this.#intake, this.#draws(5));
    this.#senders.add(() => sender.send(), often);
    this.#senders.add(
      () => this.#letters.send(kafka),
      () => 1_000 + pauses.below(3_000),
    );
    const searcher = new Searcher(this.#reads, this.#reading, this.#draws(6));
    this.#readers.add(() => searcher.search(), often);
    const limits = this.#draws(7);
    for (const reader of this.#followers) {
      this.#readers.add(() => reader.read(1 + limits.below(10_000), limits.below(3)), often);
    }
    this.#troubles.add(
      () => server.trouble(),
      () => pauses.below(4_000),
    );
    const ends = this.#draws(8);
    this.#troubles.add(
      () => this.#endPrograms(ends),
      () => 500 + pauses.below([2_000, 6_000, 15_000][pauses.below(3)] ?? 1),
    );
  }

  /** Ends one of the programs, or both, and starts them again. Some are killed before they listen. */
  async #endPrograms(random: SeededRandom): Promise<void> {
    const first = random.below(PROGRAMS);
    const chosen = this.#programs.filter((_, index) => index === first || random.below(4) === 0);
    const signal = random.below(5) === 0 ? 'SIGTERM' : 'SIGKILL';
    await Promise.all(chosen.map((program) => program.end(signal)));
    if (signal === 'SIGTERM') this.#stops += chosen.length;
    else this.#kills += chosen.length;
    await delay(random.below(2_000));
    if (random.below(6) === 0) {
      for (const program of chosen) program.begin();
      await delay(random.below(2_000));
      await Promise.all(chosen.map((program) => program.end('SIGKILL')));
      this.#kills += chosen.length;
    }
    await Promise.all(chosen.map((program) => program.start()));
  }

  async #unlessFailed<T>(work: Promise<T>): Promise<T> {
    const failures = [this.#senders.failed, this.#readers.failed, this.#troubles.failed, ...this.#programs.map(({ failed }) => failed)];
    return await Promise.race([work, ...failures]);
  }

  /** Ends all troubles, and waits until both programs have stored what Kafka has. From then on nothing may fail. */
  async #calmDown(server: SharedServer): Promise<void> {
    await this.#troubles.pause();
    await server.mend();
    await Promise.all([this.#senders.pause(), this.#readers.pause()]);
    for (const program of this.#programs) {
      const ready = async (): Promise<string> => (await program.ask('/readyz'))?.text ?? 'no answer';
      await until('a program to be ready', ready, (text) => text.includes('"ready"'), PATIENCE_MS).catch((error: Error) => {
        throw new Difference(`${error.message}\n${program.log}`);
      });
    }
    this.#phase = 'verdict';
    const produced = this.#sent.batches.filter(({ state }) => state === 'produced');
    const due = [...this.#sent.acknowledged(), ...produced];
    const searcher = new Searcher(this.#reads, this.#reading, this.#draws(9));
    const lacks = async (): Promise<number> => {
      const [fromMs, toMs] = [this.#fromMs, Date.now()];
      const total = await searcher.ask({ zone: 'all', fromMs, toMs, filters: [], page: { index: 0, size: 1 } });
      return total === undefined ? Number.POSITIVE_INFINITY : countEvents(due, () => true, fromMs, toMs) - total;
    };
    await until('all events to be found', lacks, (missing) => missing <= 0, PATIENCE_MS).catch((error: Error) => {
      throw new Difference(`events are missing: ${error.message}\n${this.#programs.map(({ log }) => log).join('\n')}`);
    });
    for (const batch of produced) batch.state = 'acknowledged';
  }

  /** Kills both programs once more, and holds everything that each then answers to what was sent. */
  async #lookAtAll(): Promise<void> {
    for (const program of this.#programs) {
      await program.end('SIGKILL');
      this.#kills += 1;
      await program.start();
    }
    const due = this.#sent.acknowledged();
    for (const reader of this.#followers) {
      while ((await reader.read(20_000)) !== true);
      reader.received.requireAll(due, 0);
    }
    const window = { fromMs: this.#fromMs, toMs: Date.now() };
    for (const program of this.#programs) {
      const reads = { ...this.#reads, program };
      const searcher = new Searcher(reads, this.#reading, this.#draws(10));
      for (const zone of [...ZONES, 'all'] as const) {
        await searcher.ask({ ...window, zone, filters: [], page: { index: 0, size: 500 } });
        await searcher.ask({ ...window, zone, filters: [], page: 'groups' });
      }
    }
    await walkFeed(this.#reads, this.#reading, { zones: 'all', limit: 20_000 });
    await exportAll(this.#reads, this.#fromMs);
    await this.#letters.requireAll();
    await Promise.all(this.#programs.map((program) => program.end('SIGTERM')));
    this.#stops += PROGRAMS;
  }

  #progressLine(): string {
    const { HTTP, Kafka } = this.#intake.acknowledged;
    const counts = [
      `${HTTP} by HTTP`,
      `${Kafka} by Kafka`,
      `${this.#letters.sent} dead letters`,
      `${this.#kills} kills`,
      `${Object.values(this.#server?.counts ?? {}).reduce((sum, count) => sum + count, 0)} troubles`,
      `${this.#reading.searches} searches`,
      `${this.#reading.feedEvents} of the feed`,
    ];
    return `${String(Math.round(this.#minutes * 60)).padStart(5)} s  ${this.#phase}: ${counts.join(', ')}`;
  }
}
