import type { Producer } from 'kafkajs';
import type { SeededRandom } from '../../bench/events/seeded-random.ts';
import { eventually } from '../fixtures/eventually.ts';
import type { NumberedEvents } from './numbered-events.ts';
import { sendValues } from './own-producer.ts';
import type { SideBySide } from './two-programs.ts';

/** Producers and uploaders send no further events while so many have not come out of the feed. */
const MOST_UNREAD = 3_000;
const MOST_PER_MESSAGE_SET = 100;
const MOST_PER_UPLOAD = 200;
/** One set of messages in so many has a message that is no event. */
const SETS_PER_LETTER = 8;
const MOST_PER_PAGE = 1_000;
/** Generous, for what hangs. */
const GIVE_UP_MS = 180_000;

interface LoadOptions {
  readonly programs: SideBySide;
  readonly sent: NumberedEvents;
  readonly random: SeededRandom;
}

/** Reads the feed of zones by cursor, from one program or the other, whichever answers. */
export class FeedReader {
  /** The ids in the order in which they came. */
  readonly ids = new Set<string>();
  /** How often another program was asked with the cursor that the one before gave. */
  handovers = 0;
  readonly #options: LoadOptions;
  readonly #zones: string;
  #cursor = '';
  #askedLast = '';

  constructor(zones: string, options: LoadOptions) {
    this.#zones = zones;
    this.#options = options;
  }

  /** Reads on until this holds. */
  async readUntil(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await eventually('a page of the feed', () => this.#readPage(), GIVE_UP_MS);
    }
  }

  /** Resolves with false where the answer failed or broke off, which is asked for again. */
  async #readPage(): Promise<boolean> {
    const { programs, random } = this.#options;
    const url = await programs.anyUrl(random.below(programs.slots.length));
    const query = new URLSearchParams({ limit: String(1 + random.below(MOST_PER_PAGE)), ...(this.#cursor && { cursor: this.#cursor }) });
    const answer = await answerTo(`${url}/shield/event-logs/${this.#zones}/feed?${query}&wait=1`);
    if (answer === undefined || !answer.endsWith('}\n')) {
      return false;
    }
    const lines = answer.trimEnd().split('\n');
    const { cursor } = JSON.parse(lines.pop() ?? '') as { readonly cursor?: string };
    if (cursor === undefined) {
      return false;
    }
    for (const line of lines) {
      const { logId } = JSON.parse(line) as { readonly logId: string };
      if (this.ids.has(logId)) {
        throw new Error(`${logId} came a second time, from ${url} after the cursor ${this.#cursor}`);
      }
      this.ids.add(logId);
    }
    this.handovers += Number(this.#askedLast !== '' && this.#askedLast !== url);
    [this.#cursor, this.#askedLast] = [cursor, url];
    return true;
  }
}

/** Sends events in messages of a topic and in uploads, as fast as a reader of the feed gets them, until it is stopped. */
export class Load {
  acknowledgedUploads = 0;
  /** Uploads that had to be sent once more. */
  repeatedUploads = 0;
  /** The messages that are no events, each another one. */
  readonly letters: string[] = [];
  readonly #options: LoadOptions;
  readonly #reader: FeedReader;
  #isStopped = false;
  #uploads = 0;

  constructor(reader: FeedReader, options: LoadOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /** What is under way is still sent. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves after `stop`, when everything that was sent is acknowledged. */
  async produce(producer: Producer, topic: string, partitions: number): Promise<void> {
    const { sent, random } = this.#options;
    while (await this.#hasRoom()) {
      const events = sent.draw(1 + random.below(MOST_PER_MESSAGE_SET));
      const values = events.map((event) => Buffer.from(JSON.stringify(event)));
      if (random.below(SETS_PER_LETTER) === 0) {
        const letter = `no event, number ${this.letters.length}`;
        this.letters.push(letter);
        values.splice(random.below(values.length), 0, Buffer.from(letter));
      }
      await sendValues(producer, topic, values, random.below(partitions));
    }
  }

  /** The same over HTTP. One upload in five goes to all programs at once. */
  async upload(): Promise<void> {
    const { programs, sent, random } = this.#options;
    while (await this.#hasRoom()) {
      const body = sent.draw(1 + random.below(MOST_PER_UPLOAD)).map((event) => `${JSON.stringify(event)}\n`);
      const first = random.below(programs.slots.length);
      const targets = random.below(5) === 0 ? programs.slots.map((_, index) => index) : [first];
      await Promise.all(targets.map((target) => this.#uploadUntilTaken(body, target)));
      this.acknowledgedUploads += 1;
    }
  }

  async #uploadUntilTaken(lines: readonly string[], preferred: number): Promise<void> {
    const { programs } = this.#options;
    this.#uploads += 1;
    let attempts = 0;
    const attempt = async (): Promise<boolean> => {
      attempts += 1;
      const url = await programs.anyUrl((preferred + attempts - 1) % programs.slots.length);
      const headers = { 'content-type': 'application/x-ndjson' };
      const answer = await answerTo(`${url}/ingest/events`, { method: 'POST', headers, body: lines.join('') });
      if (answer === undefined) {
        return false;
      }
      const { accepted, rejectedCount } = JSON.parse(answer) as { readonly accepted: number; readonly rejectedCount: number };
      if (accepted !== lines.length || rejectedCount > 0) {
        throw new Error(`of ${lines.length} events an upload took ${answer}`);
      }
      return true;
    };
    await eventually(`upload ${this.#uploads} to be taken`, attempt, GIVE_UP_MS);
    this.repeatedUploads += Number(attempts > 1);
  }

  /** Resolves with true once there is room for further events, and with false once this is stopped. */
  async #hasRoom(): Promise<boolean> {
    const { sent } = this.#options;
    const isRead = () => this.#isStopped || sent.all.length - this.#reader.ids.size < MOST_UNREAD;
    await eventually('the feed to bring what was sent', isRead, GIVE_UP_MS);
    return !this.#isStopped;
  }
}

/** The text of a good answer; undefined of a program that is killed or asks to come again. Throws at any other answer. */
async function answerTo(url: string, init: RequestInit = {}): Promise<string | undefined> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, init);
    text = await response.text();
  } catch {
    return undefined;
  }
  if (response.ok) {
    return text;
  }
  if (response.status === 503) {
    return undefined;
  }
  throw new Error(`${url} answered ${response.status}: ${text}`);
}
