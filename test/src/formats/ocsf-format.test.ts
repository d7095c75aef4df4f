import { describe, expect, test } from 'vitest';
import { ocsfWriter } from '../../../src/formats/ocsf-format.ts';
import { NOW } from '../../fixtures/present.ts';
import { type EventPart, feedEvent } from './feed-events.ts';
import { JA4, UA, WHOLE_EVENT, WHOLE_URL } from './whole-event.ts';

const ocsfOf = (part: EventPart) => JSON.parse(ocsfWriter()(feedEvent(part)));

test('an event that has everything becomes a whole HTTP Activity', () => {
  expect(JSON.parse(ocsfWriter()(WHOLE_EVENT))).toEqual({
    activity_id: 0,
    activity_name: 'Unknown',
    category_uid: 4,
    category_name: 'Network Activity',
    class_uid: 4002,
    class_name: 'HTTP Activity',
    type_uid: 400200,
    type_name: 'HTTP Activity: Unknown',
    time: NOW,
    metadata: {
      version: '1.8.0',
      profiles: ['security_control'],
      product: { vendor_name: 'shieldlog', name: 'shieldlog', version: '0.1.0', feature: { name: 'waf' } },
      uid: `7:${NOW}:e-1`,
      original_event_uid: 'e-1',
      sequence: 4711,
      logged_time: NOW + 250,
      original_time: String(NOW),
    },
    severity_id: 3,
    severity: 'Medium',
    action_id: 2,
    action: 'Denied',
    disposition_id: 2,
    disposition: 'Blocked',
    is_alert: true,
    message: 'Matched a phrase',
    firewall_rule: { uid: '942100', name: 'SQL injection', category: 'waf', match_location: 'ARGS:q', match_details: ['1 union'] },
    http_request: {
      url: {
        url_string: WHOLE_URL,
        scheme: 'https',
        hostname: 'www.shop.example.co.uk',
        domain: 'example.co.uk',
        subdomain: 'www.shop',
        port: 8443,
        path: '/a/b.tar.gz',
        query_string: 'q=1%20union',
      },
      user_agent: UA,
      referrer: 'https://news.example.org/',
      http_headers: [
        { name: 'Host', value: 'www.shop.example.co.uk' },
        { name: 'REFERER', value: 'https://news.example.org/' },
      ],
    },
    src_endpoint: { ip: '203.0.113.9', autonomous_system: { number: 64500 }, location: { country: 'DE' } },
    dst_endpoint: { uid: '7', hostname: 'www.shop.example.co.uk', port: 8443 },
    ja4_fingerprint_list: [{ type_id: 1, type: 'JA4', value: JA4 }],
    observables: [
      { name: 'src_endpoint.ip', type_id: 2, type: 'IP Address', value: '203.0.113.9' },
      { name: 'dst_endpoint.hostname', type_id: 1, type: 'Hostname', value: 'www.shop.example.co.uk' },
    ],
    raw_data: WHOLE_EVENT.json,
    unmapped: { shield_zone_id: 7, action: 'blocked' },
  });
});

describe('the action has its numbers:', () => {
  test.each<[action: string | undefined, verdict: readonly unknown[]]>([
    ['blocked', [2, 'Denied', 2, 'Blocked', 3, true]],
    ['challenged', [0, 'Unknown', 23, 'Challenge', 2, true]],
    ['logged', [3, 'Observed', 17, 'Logged', 2, false]],
    ['allowed', [1, 'Allowed', 1, 'Allowed', 1, false]],
    ['ALLOWED', [1, 'Allowed', 1, 'Allowed', 1, false]],
    ['throttled', [99, 'throttled', 99, 'throttled', 0, false]],
    ['constructor', [99, 'constructor', 99, 'constructor', 0, false]],
    [undefined, [0, 'Unknown', 0, 'Unknown', 0, false]],
  ])('%s', (action, verdict) => {
    const event = ocsfOf(action === undefined ? {} : { fields: { action } });
    expect([event.action_id, event.action, event.disposition_id, event.disposition, event.severity_id, event.is_alert]).toEqual(verdict);
  });
});

describe('text that is not valid for an attribute with a type is kept elsewhere:', () => {
  test.each<[what: string, part: EventPart, event: object]>([
    [
      'an ip that is none',
      { fields: { ip: '10.0.0.256', country: 'DE' } },
      { src_endpoint: { name: '10.0.0.256', location: { country: 'DE' } }, unmapped: { shield_zone_id: 7 } },
    ],
    ['a masked ip', { fields: { ip: '192.0.2.*' } }, { src_endpoint: { name: '192.0.2.*' }, unmapped: { shield_zone_id: 7 } }],
    [
      'country and asn without an address',
      { fields: { country: 'DE', asn: '1' } },
      { unmapped: { shield_zone_id: 7, asn: '1', country: 'DE' } },
    ],
    [
      'a country of no code and an asn of more than 32 bits',
      { fields: { ip: '::1', country: 'EU', asn: '4294967296' } },
      { src_endpoint: { ip: '::1' }, unmapped: { shield_zone_id: 7, asn: '4294967296', country: 'EU' } },
    ],
    [
      'a match without a rule',
      { log: { TriggerMatch: { Key: 'k', Value: 'v' } } },
      { unmapped: { shield_zone_id: 7, match_key: 'k', match_value: 'v' } },
    ],
    ['a fingerprint of another kind', { fields: { ja4: 'x' } }, { ja4_fingerprint_list: [{ type_id: 99, type: 'Other', value: 'x' }] }],
    ['a url that is only a path', { fields: { url: '/x?y' } }, { http_request: { url: { path: '/x', query_string: 'y' } } }],
    ['a url without a scheme', { fields: { url: 'a.example/x' } }, { http_request: { url: { url_string: 'a.example/x' } } }],
    ['nothing about the request', {}, { http_request: {}, dst_endpoint: { uid: '7' } }],
    ['a host that is an address', { fields: { url: 'http://[2001:DB8::1]/' } }, { dst_endpoint: { uid: '7', ip: '2001:db8::1' } }],
    [
      'an address longer than OCSF takes',
      { fields: { ip: `${'0000:'.repeat(5)}ffff:255.255.255.255` } },
      { src_endpoint: { ip: '0000:0000:0000:0000:0000:ffff:ffff:ffff' } },
    ],
  ])('%s', (_, part, expected) => {
    const event = ocsfOf(part);
    for (const [name, value] of Object.entries(expected)) {
      expect(event[name]).toEqual(value);
    }
    expect('src_endpoint' in event).toBe('src_endpoint' in expected);
    // No host in these events has a name, and few have an address.
    const { ip } = event.src_endpoint ?? {};
    expect(event.observables).toEqual(ip && [{ name: 'src_endpoint.ip', type_id: 2, type: 'IP Address', value: ip }]);
  });
});
