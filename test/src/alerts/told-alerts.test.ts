import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Receiver } from '../../../src/alerts/receiver-file.ts';
import { receiverRequest } from '../../../src/alerts/receiver-request.ts';
import { type AlertFacts, type AlertMessage, messageValue, toldAlert } from '../../../src/alerts/told-alerts.ts';
import { assertProperty } from '../../random/assert-property.ts';
import { NOON, SAMPLE_RULE, sampleAlert, sampleMessage, sampleReceiver, sampleSent } from './sample-alerts.ts';

/** What a receiver of a kind is sent. */
function sentTo(kind: Receiver['kind'], message: AlertMessage, changed: Partial<Receiver> = {}) {
  return receiverRequest(message, sampleReceiver(kind, new URL('http://127.0.0.1'), changed), NOON);
}

/** What people, terminals and chats would take for more than text. */
const HOSTILE = [
  '<!channel>',
  '<!here|here>',
  '<@U012AB3CD>',
  '<https://evil.example|click>',
  'https://evil.example/',
  'a`<!channel>`b',
  '*bold* _it_ ~no~ ```code```',
  '&lt;!channel&gt;',
  'a\r\nBcc: everybody@example.org',
  '\u001b]0;title\u0007\u001b[2J',
  '\u202egpj.exe',
  '\u0000',
  '"}],"alerts":[]',
  '\u{1f600}'.repeat(400),
  '',
];

const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 600 }), fc.string({ maxLength: 300 }));

function messageOf(value: string) {
  const facts: AlertFacts = {
    count: 10,
    times: { firstMs: NOON, lastMs: NOON + 1 },
    top: [{ field: 'ua', value: messageValue(value), count: 9, around: 12 }],
    different: [{ field: 'url', value: messageValue(value), count: 8, around: 8 }],
  };
  const alert = sampleAlert(1, { group: [{ text: value }] });
  return { rule: SAMPLE_RULE, alerts: [toldAlert(sampleMessage(1, { alert }), { link: 'https://waf.example/?q=a%26b', facts })], more: 0 };
}

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['a\r\nb', 'a\\u000d\\u000ab'],
  ['\u202egpj.exe', '\\u202egpj.exe'],
  ['a'.repeat(256), 'a'.repeat(256)],
  ['a'.repeat(257), `${'a'.repeat(255)}…`],
  ['\u{1f600}'.repeat(300), `${'\u{1f600}'.repeat(255)}…`],
])('the value %j is shown as %j', (value, shown) => {
  expect(messageValue(value)).toBe(shown);
});

test('no value of an event reaches people as more than a text of 256 characters', () => {
  assertProperty(
    fc.property(hostile, (value) => {
      const message = messageOf(value);
      const webhook = sentTo('webhook', message, { signingSecret: 's' });
      const alertmanager = sentTo('alertmanager', message);
      const pagerduty = sentTo('pagerduty', message, { routingKey: 'key' });
      const [json] = JSON.parse(webhook.body).alerts;
      const [labels] = JSON.parse(alertmanager.body).map((alert: { labels: object }) => alert.labels);
      for (const text of [json.group.ip, labels.ip, json.top[0].value, JSON.parse(pagerduty.body).payload.custom_details.group.ip]) {
        expect([...text].length).toBeLessThanOrEqual(256);
        expect(text).toBe(messageValue(value));
      }
      for (const { body, headers } of [webhook, alertmanager, pagerduty, sentTo('slack', message)]) {
        const texts = [...Object.values(headers), ...textsIn(JSON.parse(body))];
        expect(texts.filter((text) => /[^\n\P{Cc}]|[\u202a-\u202e\u2066-\u2069\ufeff]/u.test(text))).toEqual([]);
      }
      expect(textsIn(JSON.parse(webhook.body)).filter((text) => text.includes('\n'))).toEqual([]);
    }),
  );
});

/** All texts in a JSON value. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test('Slack finds no mention, link or emphasis in a value, and the one link is ours', () => {
  assertProperty(
    fc.property(hostile, (value) => {
      const { text } = JSON.parse(sentTo('slack', messageOf(value)).body);
      expect(text.match(/<[^>]*>/g)).toEqual(['<https://waf.example/?q=a%26b|Show its events>']);
      // What is left without the code is our own words.
      const own = text
        .replaceAll(/`[^`\n]*`|\(none\)/g, '`')
        .replaceAll(/[-\d]+T[:.\d]+Z/g, 'TIME')
        .replace(/<[^>]*>/, '');
      expect(own.split('\n')).toEqual([
        'Alert credential-stuffing, severity high: ip `, windows from TIME to TIME',
        '10 events from TIME to TIME; most: ua ` 90 %',
        'More than around: url ` 80 %',
        '',
      ]);
    }),
  );
});

test('a text for Slack that would be cut off counts the alerts that it leaves out', () => {
  const long = Array.from({ length: 20 }, (_, nth) =>
    sampleMessage(nth, { alert: sampleAlert(nth, { group: [{ text: '&'.repeat(600) }] }) }),
  );
  const { text } = JSON.parse(sentTo('slack', { ...sampleSent(...long), more: 5 }).body);
  const named = text.match(/^Alert /gm).length;
  expect(text.length).toBeLessThan(40_000);
  expect([named > 0 && named <= 20, text.endsWith(`\n\n${25 - named} more alerts of this rule`)]).toEqual([true, true]);
});

test.each([
  [1, 1, '1 event; most: nothing', '1 more alert of this rule'],
  [2, 2, '2 events; most: nothing', '2 more alerts of this rule'],
])('a text for Slack counts events and further alerts in words: %i and %i', (count, more, events, further) => {
  const alerts = [toldAlert(sampleMessage(1), { link: null, facts: { count, times: null, top: [], different: [] } })];
  const { text } = JSON.parse(sentTo('slack', { rule: SAMPLE_RULE, alerts, more }).body);
  expect(
    text
      .split('\n')
      .filter((line: string) => line !== '')
      .slice(1),
  ).toEqual([events, further]);
});

test('a message says why it does not say what the events have, and where hits may be missing', () => {
  const bounded = sampleMessage(1, { alert: sampleAlert(1, { isBounded: true }) });
  const alerts = [toldAlert(bounded, { link: null, facts: 'the search took too long' })];
  const { text } = JSON.parse(sentTo('slack', { rule: SAMPLE_RULE, alerts, more: 0 }).body);
  expect(text.split('\n').slice(1)).toEqual([
    'What its events have is not known: the search took too long',
    'The rule counts more groups than it may: further alerts may be missing',
  ]);
  const webhook = sentTo('webhook', { rule: SAMPLE_RULE, alerts, more: 0 });
  expect([webhook.headers, JSON.parse(webhook.body).alerts[0]]).toMatchObject([
    {},
    { withoutFacts: 'the search took too long', bounded: true },
  ]);
});
