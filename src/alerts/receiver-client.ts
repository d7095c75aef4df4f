import { MINUTE_MS } from '../../query/durations.ts';
import { printable } from '../../query/search-line.ts';
import { trustIn } from '../sinks/connections.ts';
import {
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
  type ReceiverLimits,
  reasonIn,
  refusedAnswer,
  retryAfterMs,
} from '../sinks/http-exchange.ts';
import { refusalIn } from '../sinks/receiver-answers.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { ALERTMANAGER_PATH, alertmanagerRequest } from './alertmanager-message.ts';
import type { Destination, Parcel } from './message-queue.ts';
import { pagerdutyRequest } from './pagerduty-message.ts';
import type { Receiver } from './receiver-file.ts';
import { slackRequest } from './slack-message.ts';
import { ALERTS_A_MESSAGE, type AlertMessage, type ReceiverRequest } from './told-alerts.ts';
import { webhookRequest } from './webhook-message.ts';

/** Receivers of messages answer with little and soon. */
export const MESSAGE_LIMITS: ReceiverLimits = { silenceMs: 15_000, maxAnswerBytes: 1024 * 1024, answerMs: 15_000 };

/** What a rule has to tell is told at once, and then after so long. */
export const PACE_MS = MINUTE_MS;

/** The most alerts in one array for an Alertmanager. */
export const ALERTS_AN_ARRAY = 500;

export interface ReceiverClientOptions {
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly limits?: ReceiverLimits;
}

/** Sends messages to a receiver. What it throws and answers holds none of the receiver's secrets. */
export class ReceiverClient implements Destination {
  readonly queue: string;
  readonly shownAs: string;
  readonly paceMs = PACE_MS;
  readonly limit: number;
  readonly hasFacts = true;
  /** Whether it keeps an alert open until it is told that it is resolved. */
  readonly keepsOpen: boolean;
  readonly #receiver: Receiver;
  readonly #url: URL;
  readonly #client: HttpClient;
  readonly #now: () => number;
  readonly #limits: ReceiverLimits;

  constructor(receiver: Receiver, { now, limits = MESSAGE_LIMITS }: ReceiverClientOptions) {
    const { name, kind, url, ca } = receiver;
    this.queue = name;
    this.shownAs = `receiver ${name}`;
    this.limit = kind === 'alertmanager' ? ALERTS_AN_ARRAY : ALERTS_A_MESSAGE;
    this.keepsOpen = kind === 'alertmanager' || kind === 'pagerduty';
    this.#receiver = receiver;
    this.#url = kind === 'alertmanager' ? new URL(`${url.pathname.replace(/\/$/, '')}${ALERTMANAGER_PATH}${url.search}`, url) : url;
    this.#client = createHttpClient(ca === null ? null : trustIn(ca), 'ca_file');
    this.#now = now;
    this.#limits = limits;
  }

  /**
   * People get one message, which counts what it does not name. Those that keep alerts open until they are resolved get every one: an
   * Alertmanager as one array, PagerDuty by itself.
   */
  parcels({ messages, total, lastSeq }: Parameters<Destination['parcels']>[0]): readonly Parcel[] {
    const last = messages.at(-1)?.seq ?? lastSeq;
    switch (this.#receiver.kind) {
      case 'webhook':
      case 'slack':
        return [{ messages, more: total - messages.length, upToSeq: lastSeq }];
      case 'alertmanager':
        return [{ messages, more: 0, upToSeq: last }];
      case 'pagerduty':
        return messages.map((message) => ({ messages: [message], more: 0, upToSeq: message.seq }));
    }
  }

  async deliver(message: AlertMessage, signal: AbortSignal): Promise<string> {
    const { kind } = this.#receiver;
    const request = `POST ${this.#url.origin}`;
    try {
      const { headers, body } = this.#requestOf(message);
      const answer = await this.#client.exchange({
        method: 'POST',
        url: this.#url,
        headers: { 'content-type': 'application/json', ...headers },
        body: Buffer.from(body),
        signal,
        ...this.#limits,
      });
      if (answer.status < 200 || answer.status >= 300) throw refusedAnswer(request, answer, this.#now());
      requireTaken(request, answer, message.alerts.length, this.#now());
      const reason = reasonIn(answer.body);
      return this.#shown(`${kind} answered ${answer.status}${reason === '' ? '' : `: ${reason}`}`);
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      // Its cause would have what the message has no more.
      throw new DeliveryError(error.code, this.#shown(`${this.shownAs}: ${error.message}`), { retryAfterMs: error.retryAfterMs });
    }
  }

  close(): void {
    this.#client.close();
  }

  #requestOf(message: AlertMessage): ReceiverRequest {
    const receiver = this.#receiver;
    switch (receiver.kind) {
      case 'webhook':
        return webhookRequest(message, receiver, this.#now());
      case 'slack':
        return slackRequest(message);
      case 'alertmanager':
        return alertmanagerRequest(message, receiver, this.#now());
      case 'pagerduty':
        return pagerdutyRequest(message, receiver);
    }
  }

  /** A text that the receiver may have written, without secrets. */
  #shown(text: string): string {
    const secrets = this.#receiver.secrets.toSorted((one, other) => other.length - one.length);
    return printable(secrets.reduce((shown, secret) => shown.replaceAll(secret, '…'), text));
  }
}

/** Throws DeliveryError where a 2xx says that something was not taken. */
function requireTaken(request: string, answer: HttpAnswer, alerts: number, nowMs: number): void {
  const refusal = refusalIn(answer, alerts);
  if (refusal === null) return;
  const { passes, reason } = refusal;
  const message = `${request} answered ${answer.status} and ${passes ? 'did not take' : 'refused'} the message: ${reason}`;
  const waitMs = passes ? retryAfterMs(answer.headers['retry-after'], nowMs) : null;
  throw new DeliveryError(passes ? 'unavailable' : 'refused', message, { retryAfterMs: waitMs });
}
