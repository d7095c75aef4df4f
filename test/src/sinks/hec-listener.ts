import { type HttpListener, httpListener, type Reaction, type Received } from './http-listener.ts';
import type { TestCertificate } from './test-certificate.ts';

export interface HecOptions {
  readonly token?: string;
  /** Whether the token has indexer acknowledgement. */
  readonly acks?: boolean;
  /** Whether an acknowledgement is given in the answer to the question of that number, counted from 1. */
  readonly acknowledges?: (question: number) => boolean;
  /** Returns a reaction instead of the usual one, or null. */
  readonly fault?: (request: Received, number: number) => Reaction | null;
  readonly certificate?: TestCertificate;
  readonly port?: number;
}

export interface HecListener extends HttpListener {
  /** The events of the batches that were taken, in order. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

const reply = (status: number, text: string, code: number, more: object = {}): Reaction => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text, code, ...more }),
});

/** Splunk's events come as objects back to back; ours have one a line. */
export function eventsIn(body: string): Readonly<Record<string, unknown>>[] {
  return body.split('\n').map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

/** An HTTP event collector as Splunk documents it: tokens, channels, acknowledgements that are told of once, codes. */
export async function hecListener(options: HecOptions = {}): Promise<HecListener> {
  const { token = 'hec-token', acks = true, acknowledges = () => true, fault = () => null, certificate, port = 0 } = options;
  const events: Readonly<Record<string, unknown>>[] = [];
  const pending = new Map<string, Set<number>>();
  let [requests, questions, nextAck] = [0, 0, 0];

  function takeEvents(channel: string | undefined, body: string): Reaction {
    if (acks && channel === undefined) return reply(400, 'Data channel is missing', 10);
    if (body === '') return reply(400, 'No data', 5);
    events.push(...eventsIn(body));
    if (!acks) return reply(200, 'Success', 0);
    const ackId = nextAck;
    nextAck += 1;
    const ids = pending.get(channel ?? '') ?? new Set();
    pending.set(channel ?? '', ids.add(ackId));
    return reply(200, 'Success', 0, { ackId });
  }

  function answerQuestion(channel: string | null, body: string): Reaction {
    if (!acks) return reply(400, 'ACK is disabled', 14);
    questions += 1;
    const asked = (JSON.parse(body) as { readonly acks: readonly number[] }).acks;
    const given = acknowledges(questions) ? (pending.get(channel ?? '') ?? new Set()) : new Set<number>();
    // Told once: a second question for the same one is answered with false.
    return { status: 200, body: JSON.stringify({ acks: Object.fromEntries(asked.map((id) => [id, given.delete(id)])) }) };
  }

  function react(request: Received): Reaction {
    requests += 1;
    const faulty = fault(request, requests);
    if (faulty !== null) return faulty;
    const { authorization } = request.headers;
    if (authorization === undefined) return reply(401, 'Token is required', 2);
    if (authorization !== `Splunk ${token}`) return reply(403, 'Invalid token', 4);
    const url = new URL(request.url, 'http://listener');
    const channel = request.headers['x-splunk-request-channel'];
    if (url.pathname === '/services/collector/event') return takeEvents(typeof channel === 'string' ? channel : undefined, request.body);
    if (url.pathname === '/services/collector/ack') return answerQuestion(url.searchParams.get('channel'), request.body);
    return reply(404, 'The requested URL was not found on this server.', 404);
  }

  const listener = await httpListener(react, { port, ...(certificate === undefined ? {} : { certificate }) });
  return { ...listener, events };
}
