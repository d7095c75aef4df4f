import type { Producer } from 'kafkajs';
import type { ReadingOptions } from './readers.ts';
import { Difference, ZONES } from './sent-events.ts';

interface Topic {
  readonly producer: Producer;
  readonly topic: string;
  readonly partitions: number;
}

/** Sends messages that are no events, over HTTP and by Kafka, each another one, and looks for their dead letters. */
export class Letters {
  readonly #options: Pick<ReadingOptions, 'program'>;
  /** The texts of those that are acknowledged. */
  readonly #acknowledged = new Set<string>();
  readonly #unanswered = new Set<string>();
  sent = 0;

  constructor(options: Pick<ReadingOptions, 'program'>) {
    this.#options = options;
  }

  /** Sends one by Kafka, and one by HTTP, which is sent again later if it is not answered. */
  async send({ producer, topic, partitions }: Topic): Promise<void> {
    const number = this.sent;
    this.sent += 2;
    const message = `no event, number ${number}`;
    await producer.send({ topic, messages: [{ value: message, partition: number % partitions }], acks: -1 });
    this.#acknowledged.add(message);
    this.#unanswered.add(JSON.stringify({ shieldZoneId: ZONES[number % ZONES.length], timestamp: `never, number ${number}` }));
    await this.#upload();
  }

  /** Throws `Difference` where a letter is missing, there twice, or was never sent. */
  async requireAll(): Promise<void> {
    while (this.#unanswered.size > 0) await this.#upload();
    const left = new Set(this.#acknowledged);
    for (let afterId = ''; ; ) {
      const path = `/ingest/dead-letters?limit=1000${afterId && `&afterId=${afterId}`}`;
      const answer = await this.#options.program.ask(path);
      if (answer?.status !== 200) throw new Difference(`${path} was answered ${answer?.status}: ${answer?.text}`);
      const { deadLetters } = JSON.parse(answer.text) as {
        readonly deadLetters: readonly { readonly id: string; readonly text: string }[];
      };
      if (deadLetters.length === 0) break;
      for (const { text } of deadLetters) {
        if (!left.delete(text)) throw new Difference(`the dead letter ${text} is there twice, or was never sent`);
      }
      afterId = deadLetters.at(-1)?.id ?? '';
    }
    if (left.size > 0) throw new Difference(`${left.size} dead letters are missing, such as ${[...left][0]}`);
  }

  async #upload(): Promise<void> {
    const texts = [...this.#unanswered];
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer = await this.#options.program.ask('/ingest/events', { method: 'POST', headers, body: `${texts.join('\n')}\n` });
    if (answer === undefined) return;
    const { rejectedCount } = JSON.parse(answer.text) as { readonly rejectedCount?: number };
    if (answer.status !== 202 || rejectedCount !== texts.length) {
      throw new Difference(`${texts.length} messages that are no events were answered ${answer.status}: ${answer.text}`);
    }
    for (const text of texts) {
      this.#unanswered.delete(text);
      this.#acknowledged.add(text);
    }
  }
}
