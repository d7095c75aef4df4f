import { describe, expect, test } from 'vitest';
import { generateEvents } from '../../../bench/events/event-generator.ts';
import { BatchBuilder } from '../../../ingest/event/batch-builder.ts';

const NOW_MS = 1_760_000_000_000;
const OPTIONS = { seed: 1, count: 30_000, zones: 1_700, nowMs: NOW_MS, spanMs: 71 * 3_600_000 };

const LINES = [...generateEvents(OPTIONS)];

interface Generated {
  readonly shieldZoneId: number;
  readonly timestamp: number;
  readonly ip: string;
  readonly ua: string;
  readonly ruleId: string;
  readonly url: string;
  readonly log: { readonly UrlEncodedBody: string };
}

const EVENTS = LINES.map((line) => JSON.parse(line.toString()) as Generated);

const distinct = (value: (event: Generated) => unknown) => new Set(EVENTS.map(value)).size;

describe('the generated events', () => {
  test('are the same for the same seed and others for another', () => {
    const again = [...generateEvents({ ...OPTIONS, count: 100 })];
    expect(again).toEqual([...generateEvents({ ...OPTIONS, count: 100 })]);
    expect(again).not.toEqual([...generateEvents({ ...OPTIONS, count: 100, seed: 2 })]);
  });

  test('have 1.1 KB on average, one line each', () => {
    const bytes = LINES.reduce((sum, line) => sum + line.byteLength, 0) / LINES.length;
    expect(bytes).toBeGreaterThan(1_050);
    expect(bytes).toBeLessThan(1_200);
    expect(LINES.every((line) => line.indexOf('\n') === line.byteLength - 1)).toBe(true);
  });

  test('are all taken by the intake', () => {
    const builder = new BatchBuilder({ now: () => NOW_MS, retentionMs: 72 * 3_600_000 });
    const verdicts = LINES.map((line) => builder.addEvent('file', line.subarray(0, -1)).kind);
    expect(new Set(verdicts)).toEqual(new Set(['accepted']));
    expect(builder.eventCount).toBe(OPTIONS.count);
  });

  test('have an eighth of them in the first zone and some in most others', () => {
    const inFirst = EVENTS.filter(({ shieldZoneId }) => shieldZoneId === 1).length;
    expect(inFirst / OPTIONS.count).toBeGreaterThan(0.115);
    expect(inFirst / OPTIONS.count).toBeLessThan(0.135);
    expect(distinct(({ shieldZoneId }) => shieldZoneId)).toBeGreaterThan(1_400);
  });

  test('have many addresses of both kinds, agents, rules, and never the same URL', () => {
    expect(distinct(({ ip }) => ip)).toBeGreaterThan(5_000);
    expect(EVENTS.filter(({ ip }) => ip.includes(':')).length).toBeGreaterThan(OPTIONS.count / 10);
    expect(distinct(({ ua }) => ua)).toBeGreaterThan(1_500);
    expect(distinct(({ ruleId }) => ruleId)).toBe(400);
    expect(distinct(({ url }) => url)).toBe(OPTIONS.count);
  });

  test('have logs that no compression makes smaller than 300 bytes', () => {
    expect(EVENTS.every(({ log }) => Buffer.from(log.UrlEncodedBody, 'base64').byteLength === 300)).toBe(true);
    expect(distinct(({ log }) => log.UrlEncodedBody)).toBe(OPTIONS.count);
  });

  test('lie in the last 71 hours, most in the order of their time', () => {
    const times = EVENTS.map(({ timestamp }) => timestamp);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(NOW_MS - 71 * 3_600_000);
    expect(Math.max(...times)).toBeLessThanOrEqual(NOW_MS);
    const later = times.filter((time, index) => time >= (times[index - 1] ?? 0)).length;
    expect(later / times.length).toBeGreaterThan(0.85);
  });
});
