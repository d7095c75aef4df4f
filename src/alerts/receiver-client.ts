import { printable } from '../../query/search-line.ts';
import { trustIn } from '../sinks/connections.ts';
import { createHttpClient, type ReceiverLimits, reasonIn, refusedAnswer, retryAfterMs } from '../sinks/http-exchange.ts';
import { refusalIn } from '../sinks/receiver-answers.ts';
import { DeliveryError } from '../sinks/sink.ts';
import type { Destination } from './alert-delivery.ts';
import type { Receiver } from './receiver-file.ts';
import { receiverRequest } from './receiver-request.ts';
import type { AlertMessage } from './told-alerts.ts';

/** Receivers of messages answer with little and soon. */
export const MESSAGE_LIMITS: ReceiverLimits = { silenceMs: 15_000, maxAnswerBytes: 1024 * 1024, answerMs: 15_000 };

/** An Alertmanager and PagerDuty keep alerts open until they are told that they are resolved, so that they get every one. */
const TELLING_OF = { webhook: 'summed', slack: 'summed', alertmanager: 'together', pagerduty: 'singly' } as const;

/** Sends messages to a receiver. What it throws and answers holds none of the receiver's secrets. `now` is in Unix ms UTC. */
export function receiverClient(receiver: Receiver, now: () => number, limits = MESSAGE_LIMITS): Destination {
  const { name, kind, ca } = receiver;
  const shownAs = `receiver ${name}`;
  const client = createHttpClient(ca === null ? null : trustIn(ca), 'ca_file');
  const secrets = receiver.secrets.toSorted((one, other) => other.length - one.length);
  /** A text that the receiver may have written, without secrets. */
  const shown = (text: string): string => printable(secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text));

  /** Resolves with what was answered. A 2xx may say that something was not taken. */
  async function exchange(message: AlertMessage, signal: AbortSignal): Promise<string> {
    const { url, headers, body } = receiverRequest(message, receiver, now());
    const request = `POST ${url.origin}`;
    const answer = await client.exchange({ method: 'POST', url, headers, body: Buffer.from(body), signal, ...limits });
    if (answer.status < 200 || answer.status >= 300) throw refusedAnswer(request, answer, now());
    const refusal = refusalIn(answer, message.alerts.length);
    if (refusal === null) return [`${kind} answered ${answer.status}`, reasonIn(answer.body)].filter((part) => part !== '').join(': ');
    const { passes, reason } = refusal;
    const told = `${request} answered ${answer.status} and ${passes ? 'did not take' : 'refused'} the message: ${reason}`;
    const waitMs = retryAfterMs(answer.headers['retry-after'], now());
    throw new DeliveryError(passes ? 'unavailable' : 'refused', told, { retryAfterMs: waitMs });
  }

  return {
    queue: name,
    shownAs,
    telling: TELLING_OF[kind],
    async deliver(message, signal) {
      try {
        return shown(await exchange(message, signal));
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error;
        // Its cause would have what the message has no more.
        throw new DeliveryError(error.code, shown(`${shownAs}: ${error.message}`), { retryAfterMs: error.retryAfterMs });
      }
    },
    close: () => client.close(),
  };
}
