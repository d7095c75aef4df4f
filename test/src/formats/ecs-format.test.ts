import { describe, expect, test } from 'vitest';
import { ecsWriter } from '../../../src/formats/ecs-format.ts';
import { NOW } from '../../fixtures/present.ts';
import { type EventPart, feedEvent } from './feed-events.ts';
import { JA4, UA, WHOLE_EVENT, WHOLE_URL } from './whole-event.ts';

const ecsOf = (part: EventPart) => JSON.parse(ecsWriter()(feedEvent(part)));

test('an event that has everything becomes a whole document', () => {
  expect(JSON.parse(ecsWriter()(WHOLE_EVENT))).toEqual({
    '@timestamp': new Date(NOW).toISOString(),
    ecs: { version: '9.4.0' },
    message: 'Matched a phrase',
    event: {
      kind: 'alert',
      category: ['web', 'intrusion_detection'],
      type: ['access', 'denied'],
      action: 'blocked',
      outcome: 'failure',
      id: `7:${NOW}:e-1`,
      sequence: 4711,
      module: 'shieldlog',
      dataset: 'shieldlog.events',
      provider: 'shield',
      ingested: new Date(NOW + 250).toISOString(),
      original: WHOLE_EVENT.json,
    },
    observer: { vendor: 'shieldlog', product: 'shieldlog', version: '0.1.0', type: 'waf' },
    rule: { id: '942100', name: 'SQL injection', ruleset: 'waf', category: 'waf' },
    source: { address: '203.0.113.9', ip: '203.0.113.9', as: { number: 64500 }, geo: { country_iso_code: 'DE' } },
    url: {
      original: WHOLE_URL,
      full: WHOLE_URL,
      scheme: 'https',
      domain: 'www.shop.example.co.uk',
      registered_domain: 'example.co.uk',
      top_level_domain: 'co.uk',
      subdomain: 'www.shop',
      port: 8443,
      path: '/a/b.tar.gz',
      query: 'q=1%20union',
      extension: 'gz',
      fragment: 'frag',
    },
    user_agent: { original: UA },
    http: { request: { referrer: 'https://news.example.org/' } },
    tls: { client: { ja4: JA4 } },
    related: { ip: ['203.0.113.9', '198.51.100.4'], hosts: ['www.shop.example.co.uk'] },
    labels: { shield_zone_id: '7', match_key: 'ARGS:q', match_value: '1 union' },
  });
});

test('an event with nothing has what every document has', () => {
  const document = ecsOf({});
  expect(Object.keys(document)).toEqual(['@timestamp', 'ecs', 'event', 'observer', 'labels']);
  expect(document.event).toMatchObject({ kind: 'event', category: ['web', 'network'], type: ['access', 'info'] });
  expect(document.event).not.toHaveProperty('outcome');
});

describe('the action says what kind of event it is:', () => {
  test.each([
    ['blocked', 'alert', 'denied', 'failure'],
    ['Blocked', 'alert', 'denied', 'failure'],
    ['challenged', 'alert', 'info', 'unknown'],
    ['logged', 'event', 'info', undefined],
    ['allowed', 'event', 'allowed', 'success'],
    ['throttled', 'event', 'info', undefined],
  ])('%s', (action, kind, type, outcome) => {
    const { event } = ecsOf({ fields: { action } });
    expect([event.action, event.kind, event.type, event.outcome]).toEqual([action, kind, ['access', type], outcome]);
  });
});

describe('text that is not valid for a field with a type is kept elsewhere:', () => {
  test.each<[what: string, part: EventPart, document: object]>([
    ['an ip that is none', { fields: { ip: '10.0.0.256' } }, { source: { address: '10.0.0.256' } }],
    ['a masked ip', { fields: { ip: '2001:db8:0:1::*' } }, { source: { address: '2001:db8:0:1::*' } }],
    ['the address of the log', { log: { RemoteIp: '2001:db8::1' } }, { source: { address: '2001:db8::1', ip: '2001:db8::1' } }],
    ['a country of no code', { fields: { country: 'EU' } }, { labels: { shield_zone_id: '7', country: 'EU' } }],
    ['an asn of more than 32 bits', { fields: { asn: '4294967296' } }, { labels: { shield_zone_id: '7', asn: '4294967296' } }],
    [
      'a url that is only a path',
      { fields: { url: '/x.php?' } },
      { url: { original: '/x.php?', path: '/x.php', query: '', extension: 'php' } },
    ],
    [
      'a path of which the host is known',
      { fields: { url: '/x' }, log: { Headers: [{ Name: 'host', Value: 'shop.example:8080' }] } },
      { url: { domain: 'shop.example', original: '/x', path: '/x' }, related: { hosts: ['shop.example'] } },
    ],
    ['a url without a scheme', { fields: { url: 'shop.example.com/x' } }, { url: { original: 'shop.example.com/x' } }],
    [
      'a host that is an address',
      { fields: { url: 'http://10.0.0.1' } },
      { url: { domain: '10.0.0.1', original: 'http://10.0.0.1', full: 'http://10.0.0.1', scheme: 'http' } },
    ],
  ])('%s', (_, part, expected) => {
    const document = ecsOf(part);
    for (const [name, value] of Object.entries(expected)) {
      expect(document[name]).toEqual(value);
    }
    for (const name of ['source', 'url', 'related'].filter(
      (name) => !(name in expected) && !(name === 'related' && 'source' in expected),
    )) {
      expect(document).not.toHaveProperty(name);
    }
  });
});

test('two events of one log id at different times have different ids, as the store has them', () => {
  const ids = [NOW, NOW + 1].map((timestamp) => ecsOf({ timestamp }).event.id);
  expect(new Set(ids).size).toBe(2);
});

describe('the peer of the connection is related if it is another address than the client:', () => {
  test.each([
    ['1.2.3.4', '198.51.100.4', ['1.2.3.4', '198.51.100.4']],
    ['1.2.3.4', '1.2.3.4', ['1.2.3.4']],
    ['1.2.3.4', '::ffff:1.2.3.4', ['1.2.3.4']],
    ['2001:db8::1', '2001:DB8:0::1', ['2001:db8::1']],
    ['unknown', '::ffff:1.2.3.4', ['::ffff:1.2.3.4']],
    ['1.2.3.4', 'unknown', ['1.2.3.4']],
  ])('%s and %s', (ip, remoteIp, related) => {
    expect(ecsOf({ fields: { ip }, log: { RemoteIp: remoteIp } })['related'].ip).toEqual(related);
  });
});
