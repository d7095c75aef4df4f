import { setTimeout as timer } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { pauseMs } from '../../sinks/feed-retry.ts';
import { DeliveryError } from '../../sinks/sink.ts';
import { type AskedProgram, openAnswer, ProgramRefusal, zonesPath } from '../program-requests.ts';

export interface TailStreamOptions {
  readonly program: AskedProgram;
  /** JSON of `query`, `filters` and `exclude`. */
  readonly search: string;
  /** The id of a message of the stream, or a cursor of the feed, to begin behind; null: with the events to come. */
  readonly after: string | null;
  /** Passes the next events on, as the JSON of their messages; no further ones come until it resolves. */
  readonly onEvents: (events: readonly string[]) => Promise<void>;
  /** Called when the stream has begun for the first time. */
  readonly onBegin: () => void;
  /** Shows a message to people. */
  readonly tell: (message: string) => void;
  /** Ends the tail, which then rejects with its reason. */
  readonly signal: AbortSignal;
}

/** The program sends something every 15 s, even where no event comes. */
const SILENCE_MS = 60_000;

/** Characters of a message, which holds one event of at most a few MiB. */
export const MAX_TAIL_MESSAGE_LENGTH = 16 * 1024 * 1024;

const WHY_DROPPED: Readonly<Record<string, string>> = {
  unread: 'they came faster than they were read; shieldlog feed misses none',
  costly: 'trying the conditions on them costs too much; give fewer or narrower ones',
};

/**
 * Watches the live tail, over as many connections as it takes: one that breaks off is opened again behind the last event, so that none is
 * missed. Where the first one cannot be opened, throws what `openAnswer` throws; later the same only for what a retry cannot heal.
 */
export class TailStream {
  readonly #options: TailStreamOptions;
  #lastId: string | null;
  #isBegun = false;
  /** Whether a connection has broken off. */
  #hasBrokenOff = false;
  /** Whether the connection has brought anything. */
  #isAlive = false;

  constructor(options: TailStreamOptions) {
    this.#options = options;
    this.#lastId = options.after;
  }

  /** The id behind which another tail misses nothing; null before the stream has begun. */
  get lastId(): string | null {
    return this.#lastId;
  }

  /**
   * Begins the stream at the place where it is now, and closes it again, so that `watch` goes on from there whenever it is called, and
   * nothing is left out meanwhile. Throws what `openAnswer` throws.
   */
  async begin(): Promise<void> {
    for await (const { messages } of this.#connection()) {
      const ready = messages.find(({ event }) => event === 'ready');
      if (ready?.id === undefined) continue;
      this.#note(ready);
      this.#lastId = ready.id;
      return;
    }
    throw new DeliveryError('unavailable', 'the program has ended the stream before it had begun');
  }

  async watch(): Promise<never> {
    const { signal, tell } = this.#options;
    for (let failures = 0; ; ) {
      try {
        await this.#watchOnce();
        throw new DeliveryError('unavailable', 'the program has ended the stream');
      } catch (error) {
        signal.throwIfAborted();
        if (this.#goesOnElsewhere(error)) continue;
        if (!this.#isBegun || !(error instanceof DeliveryError) || error.code !== 'unavailable') throw error;
        failures = this.#isAlive ? 1 : failures + 1;
        this.#isAlive = false;
        this.#hasBrokenOff = true;
        const lengthMs = pauseMs(failures, error.retryAfterMs, Math.random);
        tell(`${error.message}; trying again in ${(lengthMs / 1_000).toFixed(1)} s`);
        await timer(lengthMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    }
  }

  async #watchOnce(): Promise<void> {
    for await (const { messages, lastId } of this.#connection()) {
      this.#isAlive = true;
      const events: string[] = [];
      for (const message of messages) {
        if (message.event === 'event') events.push(message.data);
        else this.#note(message);
      }
      if (events.length > 0) await this.#options.onEvents(events);
      // The id moves on only here, because what was not passed on has to come again.
      this.#lastId = lastId;
    }
  }

  /** What comes over one connection: the messages that came together, and the id behind them. */
  async *#connection(): AsyncGenerator<{ readonly messages: readonly EventSourceMessage[]; readonly lastId: string | null }> {
    const { program, search, signal } = this.#options;
    const query = { search };
    const headers: Record<string, string> = this.#lastId === null ? {} : { 'last-event-id': this.#lastId };
    const request = {
      method: 'GET',
      path: zonesPath(program, 'tail'),
      query,
      headers,
      accept: 'text/event-stream',
      signal,
      silenceMs: SILENCE_MS,
    } as const;
    const answer = await openAnswer(program, request);
    let messages: EventSourceMessage[] = [];
    let lastId = this.#lastId;
    let fault: Error | null = null;
    const parser = createParser({
      onId: (id) => {
        lastId = id;
      },
      onEvent: (message) => messages.push(message),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') fault = error;
      },
      maxBufferSize: MAX_TAIL_MESSAGE_LENGTH,
    });
    const decoder = new TextDecoder();
    for await (const chunk of answer.body) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (fault !== null)
        throw new DeliveryError('refused', `a message of the stream is longer than ${MAX_TAIL_MESSAGE_LENGTH} characters`);
      yield { messages, lastId };
      messages = [];
    }
  }

  /** Tells of a message that is no event. */
  #note({ event, data }: EventSourceMessage): void {
    const { onBegin, tell } = this.#options;
    if (event === 'ready') {
      if (this.#hasBrokenOff) tell('works again');
      else if (!this.#isBegun) onBegin();
      this.#isBegun = true;
    }
    if (event !== 'dropped') return;
    const { count, reason } = JSON.parse(data) as { readonly count: number; readonly reason: string };
    tell(`${count} events were left out here: ${WHY_DROPPED[reason] ?? reason}`);
  }

  /** Whether the id is older than the retention, or ahead of the program, so that the stream goes on from another one. */
  #goesOnElsewhere(error: unknown): boolean {
    if (!(error instanceof ProgramRefusal) || error.status !== 416) return false;
    if (error.oldestCursor === null || error.oldestCursor === this.#lastId) return false;
    this.#options.tell(
      error.isAhead
        ? 'THE PROGRAM HAS GONE BACK: it does not have all events that were shown; going on with what came since, and some may come again'
        : 'EVENTS WERE MISSED: they expired before they were read; going on from the oldest event there is',
    );
    this.#lastId = error.oldestCursor;
    return true;
  }
}
