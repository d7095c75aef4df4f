import { expect, test } from 'vitest';
import type { ParsedRow } from '../../../web/api/parsed-row.ts';
import { ticketText } from '../../../web/events/ticket-text.ts';

const row = (fields: ParsedRow['fields'], logId = 'a1'): ParsedRow => ({
  logId,
  timestamp: Date.UTC(2026, 10, 24, 12, 5, 59, 123),
  shieldZoneId: 7,
  fields,
  logText: '{}',
});

const PLACE = { clock: 'utc', timeZone: 'Europe/Berlin', ruleName: '', link: 'https://waf.example/?q=x' } as const;

test('a ticket says what, when, by which rule, from which address, and where it is seen', () => {
  const fields = {
    action: 'blocked',
    feature: 'waf',
    url: 'https://www.example.net/login',
    ruleId: '942100',
    ruleName: 'SQL injection',
    ip: '198.51.100.7',
    country: 'NL',
    asn: '64500',
    ua: 'curl/8',
  };
  expect(ticketText(row(fields), PLACE)).toBe(`What: blocked waf https://www.example.net/login
When: 2026-11-24 12:05:59.123 UTC, 2026-11-24T12:05:59.123Z
Rule: 942100 SQL injection
Address: 198.51.100.7 NL AS64500
User agent: curl/8
Event: a1 of zone 7
Link: https://waf.example/?q=x
`);
});

test('the time by the local clock has its offset and its zone', () => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const [, when = ''] = ticketText(row({}), { ...PLACE, clock: 'local', timeZone }).split('\n');
  const [, date, offset] = /^When: ([\d-]+ [\d:.]+) ([+-]\d\d:\d\d) \(/.exec(when) ?? [];
  expect(Date.parse(`${date?.replace(' ', 'T')}${offset}`)).toBe(row({}).timestamp);
  expect(when).toContain(`(${timeZone}), 2026-11-24T12:05:59.123Z`);
});

test('what an event has not is said to be missing, and the name of its rule may come from elsewhere', () => {
  const text = ticketText(row({ ip: '', ruleId: '1' }), { ...PLACE, ruleName: 'known' });
  expect(text).toContain('What: (none)\n');
  expect(text).toContain('Rule: 1 known\n');
  expect(text).toContain('Address: (none)\n');
});

test('no value forges a line of it, turns its direction or makes it endless', () => {
  const odd = `x\nRule: none\r\u2028\u202egpj\u200b${'y'.repeat(70_000)}`;
  const fields = Object.fromEntries(
    ['action', 'feature', 'url', 'ruleId', 'ruleName', 'ip', 'country', 'asn', 'ua'].map((name) => [name, odd]),
  );
  const text = ticketText(row(fields, odd), PLACE);
  expect(text.split('\n').length).toBe(8);
  expect(text).not.toMatch(/[\r\u2028\u202e\u200b]/);
  expect(text).toContain('x\\u000aRule: none\\u000d\\u2028\\u202egpj\\u200b');
  expect(text.length).toBeLessThan(6_000);
});
