import { gzipSync, zstdCompressSync } from 'node:zlib';
import kafkajs, { type Producer } from 'kafkajs';
import type { SeededRandom } from '../../bench/events/seeded-random.ts';
import { type Batch, countEvents, Difference, eventText, type SentEvents, type Way } from './sent-events.ts';
import type { TorturedProgram } from './tortured-program.ts';

export interface IntakeOptions {
  readonly program: Pick<TorturedProgram, 'ask'>;
  readonly sent: SentEvents;
  /** The clock of the program, Unix milliseconds. */
  readonly now: () => number;
  /** How long the program keeps events; Infinity: no event of the run expires. */
  readonly retentionMs: number;
}

/** What was sent, in events. */
export interface IntakeFigures {
  readonly acknowledged: Record<Way, number>;
  /** Of HTTP, once more after they were acknowledged. */
  repeated: number;
  /** Of HTTP, whose answer never came. */
  unanswered: number;
}

const ENCODINGS = {
  identity: (text: string) => Buffer.from(text),
  gzip: (text: string) => gzipSync(text, { level: 1 }),
  zstd: (text: string) => zstdCompressSync(text),
};

interface Report {
  /** Duplicates are among them. */
  readonly accepted: number;
  /** Null of a store that finds them later. */
  readonly duplicates: number | null;
  readonly expired: number;
  readonly rejectedCount: number;
}

/** Sends batches over HTTP: mostly new ones, and some once more, which may have been answered or not. */
export class HttpSender {
  readonly #options: IntakeOptions;
  readonly #figures: IntakeFigures;
  readonly #random: SeededRandom;
  /** Batches that were not answered and may be sent again. */
  readonly #unanswered: Batch[] = [];

  constructor(options: IntakeOptions, figures: IntakeFigures, random: SeededRandom) {
    this.#options = options;
    this.#figures = figures;
    this.#random = random;
  }

  async send(): Promise<void> {
    const { sent, now } = this.#options;
    const kind = this.#random.below(20);
    const waiting = this.#unanswered[0];
    if (waiting !== undefined && kind < 12) {
      this.#unanswered.shift();
      await this.#send(waiting, 'again');
      return;
    }
    const known = kind === 19 ? sent.acknowledged() : [];
    const repeated = known[known.length === 0 ? 0 : this.#random.below(known.length)];
    if (repeated === undefined) await this.#send(sent.draw('HTTP', this.#random, now()), 'first');
    else await this.#send(repeated, 'stored');
  }

  async #send(batch: Batch, time: 'first' | 'again' | 'stored'): Promise<void> {
    const { program, now, retentionMs } = this.#options;
    const encoding = (['identity', 'gzip', 'zstd'] as const)[this.#random.below(3)] ?? 'identity';
    const text = Array.from({ length: batch.count }, (_, index) => `${eventText(batch, index)}\n`).join('');
    const answer = await program.ask('/ingest/events', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': encoding },
      body: ENCODINGS[encoding](text),
    });
    if (answer === undefined) {
      if (time === 'stored') return;
      // One in five stays without an answer for good.
      if (this.#random.below(5) === 0) this.#figures.unanswered += batch.count;
      else this.#unanswered.push(batch);
      return;
    }
    const wrong = wrongReport(batch, time, JSON.parse(answer.text) as Report, now() - retentionMs);
    if (answer.status !== 202 || wrong !== undefined) {
      throw new Difference(
        `batch ${batch.number} of ${batch.count} events, sent ${time}, was answered ${answer.status}: ${answer.text}; ${wrong}`,
      );
    }
    batch.state = 'acknowledged';
    if (time === 'stored') this.#figures.repeated += batch.count;
    else this.#figures.acknowledged.HTTP += batch.count;
  }
}

/** Says what of a report cannot be; undefined where all of it can. */
function wrongReport(
  batch: Batch,
  time: string,
  { accepted, duplicates, expired, rejectedCount }: Report,
  keptFromMs: number,
): string | undefined {
  const mayExpire = batch.count - countEvents([batch], () => true, keptFromMs);
  if (accepted + expired !== batch.count || rejectedCount > 0) return 'not all of its events were taken';
  if (expired > mayExpire) return `at most ${mayExpire} of its events may have expired`;
  if (duplicates === null) return undefined;
  if (time === 'first' && duplicates > 0) return 'none of its events was sent before';
  if (time === 'stored' && duplicates < accepted) return 'all of its events were stored before';
  return undefined;
}

export interface KafkaOptions extends IntakeOptions {
  readonly producer: Producer;
  readonly topic: string;
  readonly partitions: number;
}

/** Sends batches to a topic of Kafka, an event a message. */
export class KafkaSender {
  readonly #options: KafkaOptions;
  readonly #figures: IntakeFigures;
  readonly #random: SeededRandom;

  constructor(options: KafkaOptions, figures: IntakeFigures, random: SeededRandom) {
    this.#options = options;
    this.#figures = figures;
    this.#random = random;
  }

  async send(): Promise<void> {
    const { sent, now, producer, topic, partitions } = this.#options;
    const batch = sent.draw('Kafka', this.#random, now());
    const partition = this.#random.below(partitions);
    const messages = Array.from({ length: batch.count }, (_, index) => ({ value: eventText(batch, index), partition }));
    const compression = this.#random.below(2) === 0 ? kafkajs.CompressionTypes.None : kafkajs.CompressionTypes.GZIP;
    await producer.send({ topic, messages, acks: -1, compression });
    batch.state = 'produced';
    this.#figures.acknowledged.Kafka += batch.count;
  }
}
