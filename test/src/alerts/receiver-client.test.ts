import { createHmac } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Destination } from '../../../src/alerts/alert-delivery.ts';
import { receiverClient } from '../../../src/alerts/receiver-client.ts';
import type { Receiver } from '../../../src/alerts/receiver-file.ts';
import type { AlertMessage } from '../../../src/alerts/told-alerts.ts';
import { type HttpListener, httpListener, type Reaction } from '../sinks/http-listener.ts';
import { testCertificate } from '../sinks/test-certificate.ts';
import { NOON, sampleMessage, sampleReceiver, sampleSent } from './sample-alerts.ts';

const FOREVER = new AbortController().signal;
const LIMITS = { silenceMs: 60_000, maxAnswerBytes: 1_000, answerMs: 60_000 };
/** For receivers that keep who waits for them. */
const SHORT_LIMITS: Readonly<Record<string, typeof LIMITS>> = {
  silent: { ...LIMITS, silenceMs: 300 },
  endless: { ...LIMITS, answerMs: 300 },
};
const SECRET_PATH = '/services/T0000/B0000/my-secret-part';
const DAY = 86_400_000;

async function listen(reaction: Reaction): Promise<HttpListener> {
  const listener = await httpListener(() => reaction);
  onTestFinished(() => listener.stop());
  return listener;
}

const SECRETS = [SECRET_PATH, 'my-secret-part', 'my-secret-token', 'my-secret-key'];

/** A receiver of each kind at an address, with secrets. */
function receiverOf(kind: Receiver['kind'], at: URL): Receiver {
  switch (kind) {
    case 'webhook':
      return sampleReceiver(kind, at, { secrets: SECRETS, signingSecret: 'my-secret-part', token: 'my-secret-token' });
    case 'slack':
      return sampleReceiver(kind, new URL(SECRET_PATH, at), { secrets: SECRETS });
    case 'alertmanager':
      return sampleReceiver(kind, new URL('am/', at), { secrets: SECRETS, token: 'my-secret-token' });
    case 'pagerduty':
      return sampleReceiver(kind, at, { secrets: SECRETS, routingKey: 'my-secret-key' });
  }
}

function clientOf(receiver: Receiver, limits = LIMITS): Destination {
  const client = receiverClient(receiver, () => NOON, limits);
  onTestFinished(() => client.close());
  return client;
}

async function bodyOf(kind: Receiver['kind'], message: AlertMessage) {
  const listener = await listen({ status: 202 });
  await clientOf(receiverOf(kind, listener.url)).deliver(message, FOREVER);
  return { body: JSON.parse(listener.received[0]?.body ?? 'null'), received: listener.received[0] };
}

const KINDS = ['webhook', 'slack', 'alertmanager', 'pagerduty'] as const;

describe.each(KINDS)('a receiver of the kind %s', (kind) => {
  test.each<[string, Reaction, string]>([
    ['that has too much to do', { status: 429, headers: { 'retry-after': '7' }, body: 'slow down' }, 'answered 429: slow down'],
    ['that is not there yet', { status: 503 }, 'answered 503'],
    ['that cuts the connection', 'reset', 'the connection to'],
    ['that breaks off within its answer', 'cut', 'the connection to'],
    ['that does not answer', 'silent', 'it was silent for 0.3 s'],
    ['whose answer does not end', 'endless', 'its answer did not end within 0.3 s'],
  ])('%s is worth another attempt', async (_what, reaction, message) => {
    const { url } = await listen(reaction);
    const limits = SHORT_LIMITS[String(reaction)] ?? LIMITS;
    const sent = clientOf(receiverOf(kind, url), limits).deliver(sampleSent(sampleMessage(1)), FOREVER);
    await expect(sent).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(message),
      retryAfterMs: typeof reaction === 'object' && reaction.status === 429 ? 7_000 : null,
    });
  });

  test.each<[string, Reaction, string]>([
    ['that finds it wrong', { status: 400, body: '{"message":"no such channel"}' }, 'answered 400: no such channel'],
    ['that does not know us', { status: 403, body: 'my-secret-token is no token, my-secret-key no key' }, 'answered 403: '],
    ['that is gone', { status: 410 }, 'answered 410'],
    [
      'that points elsewhere',
      { status: 302, headers: { location: `https://elsewhere.example${SECRET_PATH}` } },
      'answered 302, with Location',
    ],
    [
      'that takes it and says that it does not',
      { status: 200, body: '{"error":"my-secret-part"}' },
      'answered 200 and refused the message',
    ],
    ['whose answer is a page', { status: 200, body: '<html>Sign in</html>' }, 'answered 200 and refused the message: an HTML page'],
    ['whose answer is too long', { status: 200, body: 'a'.repeat(2_000) }, 'longer than 1000 bytes'],
  ])('%s refuses for good, and its secrets are told nobody', async (_what, reaction, message) => {
    const listener = await listen(reaction);
    const sent = clientOf(receiverOf(kind, listener.url)).deliver(sampleSent(sampleMessage(1)), FOREVER);
    const error = await sent.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'DeliveryError', message: expect.stringContaining(message) });
    expect((error as { code: string }).code).not.toBe('unavailable');
    expect(listener.received).toHaveLength(1);
    expect(`${(error as Error).message}${(error as Error).stack}${String((error as Error).cause)}`).not.toContain('my-secret');
  });

  test('that takes it is quoted with its answer', async () => {
    const { url } = await listen({ status: 200, body: 'ok \u001b[31mmy-secret-part' });
    const answer = await clientOf(receiverOf(kind, url)).deliver(sampleSent(sampleMessage(1)), FOREVER);
    expect(answer).toMatch(new RegExp(`^${kind} answered 200: ok \\\\u001b\\[31m`));
  });
});

test('what stops the program breaks a delivery off', async () => {
  const { url } = await listen('silent');
  const stopping = new AbortController();
  const sent = clientOf(receiverOf('webhook', url)).deliver(sampleSent(sampleMessage(1)), stopping.signal);
  stopping.abort();
  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
});

test('a receiver with a certificate of its own is trusted by its ca_file', async () => {
  const certificate = await testCertificate();
  const listener = await httpListener(() => ({ status: 200 }), { certificate });
  onTestFinished(() => listener.stop());
  const receiver = receiverOf('webhook', listener.url);
  const message = sampleSent(sampleMessage(1));
  await expect(clientOf(receiver).deliver(message, FOREVER)).rejects.toThrow('name its authority with ca_file');
  await clientOf({ ...receiver, ca: certificate.cert }).deliver(message, FOREVER);
  expect(listener.received).toHaveLength(1);
});

test('a webhook gets our JSON, and can tell by the signature that it is ours and from when', async () => {
  const message = { ...sampleSent(sampleMessage(1), sampleMessage(2, { state: 'resolved', earlyEnd: 'rule_gone' })), more: 3 };
  const { body, received } = await bodyOf('webhook', message);
  const seconds = NOON / 1_000;
  const hmac = createHmac('sha256', 'my-secret-part').update(`${seconds}.${received?.body}`).digest('hex');
  expect(received?.headers).toMatchObject({
    'content-type': 'application/json',
    authorization: 'Bearer my-secret-token',
    'shieldlog-signature': `t=${seconds},v1=${hmac}`,
  });
  const alert = {
    id: '00000000000000000000000000000001',
    state: 'told',
    severity: 'high',
    labels: { team: 'edge' },
    sentence: 'Alert credential-stuffing, severity high: ip 192.0.2.1, windows from 2026-05-12T12:00:00.000Z to 2026-05-12T12:10:00.000Z',
    group: { ip: '192.0.2.1' },
    from: '2026-05-12T12:00:00.000Z',
    to: '2026-05-12T12:10:00.000Z',
    hits: 1,
    toldAt: '2026-05-12T12:03:00.000Z',
    resolvedAt: null,
    earlyEnd: null,
    bounded: false,
    link: null,
  };
  expect(body).toEqual({
    rule: 'credential-stuffing',
    version: 'a'.repeat(64),
    more: 3,
    alerts: [
      alert,
      {
        ...alert,
        id: '00000000000000000000000000000002',
        state: 'resolved',
        sentence:
          'Resolved credential-stuffing, severity high: ip 192.0.2.2, ' +
          'windows from 2026-05-12T12:00:00.000Z to 2026-05-12T12:10:00.000Z, because the rule is gone',
        group: { ip: '192.0.2.2' },
        resolvedAt: '2026-05-12T12:40:00.000Z',
        earlyEnd: 'rule_gone',
      },
    ],
  });
});

test('an Alertmanager gets one array, in which an alert fires until it is resolved', async () => {
  const told = sampleMessage(1);
  const rule = { ...told.rule, labels: { 'team.name': 'edge', severity: 'mine' } };
  const message = sampleSent({ ...told, rule }, sampleMessage(1, { state: 'resolved', rule }));
  const { body, received } = await bodyOf('alertmanager', message);
  expect(received).toMatchObject({ url: '/am/api/v2/alerts', headers: { authorization: 'Bearer my-secret-token' } });
  const labels = { alertname: 'credential-stuffing', severity: 'high', alert_id: told.alert.id, ip: '192.0.2.1', team_name: 'edge' };
  expect(body).toMatchObject([
    { labels, startsAt: new Date(NOON).toISOString(), endsAt: new Date(NOON + 7 * DAY).toISOString() },
    { labels, startsAt: new Date(NOON).toISOString(), endsAt: '2026-05-12T12:40:00.000Z' },
  ]);
  expect(body).toHaveLength(2);
});

test.each([
  ['told', 'trigger'],
  ['resolved', 'resolve'],
] as const)('PagerDuty gets an event by which an alert that is %s %ss its incident', async (state, action) => {
  const message = sampleMessage(1, { state });
  const { body } = await bodyOf('pagerduty', sampleSent(message));
  expect(body).toMatchObject({
    routing_key: 'my-secret-key',
    event_action: action,
    dedup_key: message.alert.id,
    payload: { source: 'shieldlog', severity: 'error', class: 'credential-stuffing', timestamp: new Date(NOON).toISOString() },
  });
  expect(body.payload.summary).toContain('credential-stuffing');
});
