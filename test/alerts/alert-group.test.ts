import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { alertId, type CountedEvent, fieldValue, groupKey, keptValue } from '../../alerts/alert-group.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('a value has its field, or the digits of its zone', () => {
  const event: CountedEvent = { zoneId: -7, timestamp: 0, ingestedAtMs: 0, fields: { ip: '192.0.2.1', ua: '' } };
  expect([fieldValue(event, 'ip'), fieldValue(event, 'ua'), fieldValue(event, 'url'), fieldValue(event, 'shieldZoneId')]).toEqual([
    '192.0.2.1',
    '',
    undefined,
    '-7',
  ]);
});

test.each([
  ['short', 'short', true],
  ['of 256 bytes', 'x'.repeat(256), true],
  ['of 257 bytes', 'x'.repeat(257), false],
  ['of 128 letters of two bytes', 'é'.repeat(128), true],
  ['of letters of four bytes', '🦆'.repeat(65), false],
  ['cut within a letter', `x${'🦆'.repeat(65)}`, false],
])('of a value that is %s so much is kept', (_what, value, isWhole) => {
  const { text, sha256: hash } = keptValue(value);
  expect(value.startsWith(text)).toBe(true);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256);
  expect(Buffer.byteLength(text)).toBeGreaterThan(isWhole ? 0 : 252);
  expect([text === value, hash]).toEqual([isWhole, isWhole ? undefined : sha256(value)]);
});

test('groups are told apart by every byte, and by where one value ends', () => {
  const groups = [
    ['a'],
    ['a', ''],
    ['', 'a'],
    ['A'],
    ['é'],
    ['e\u0301'],
    ['a","b'],
    ['a', 'b'],
    [`${'x'.repeat(300)}a`],
    [`${'x'.repeat(300)}b`],
  ];
  expect(new Set(groups.map((values) => groupKey(values.map(keptValue)))).size).toBe(groups.length);
});

test('the id of an alert is made of its rule, the version, the group and the window', () => {
  const group = [keptValue('192.0.2.1')];
  const ids = [
    alertId('r', 'v', group, 60_000),
    alertId('rv', '', group, 60_000),
    alertId('r', 'v', [keptValue('192.0.2.2')], 60_000),
    alertId('r', 'v', [...group, keptValue('')], 60_000),
    alertId('r', 'v', group, 90_000),
  ];
  expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(alertId('r', 'v', group, 60_000)).toBe(ids[0]);
});
