import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { BENCH_NOW_MS } from './event-file.ts';
import { BIG_ZONE } from './workload.ts';

interface GeneratedEvent {
  readonly shieldZoneId: number;
  readonly timestamp: number;
  readonly ip: string;
  readonly ua: string;
  readonly url: string;
  readonly ruleName: string;
  readonly action: string;
  readonly country: string;
}

export interface ExpectedTotal {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly total: number;
}

const WINDOW = { from: BENCH_NOW_MS - 72 * 3_600_000, to: BENCH_NOW_MS + 1 };
const HALF = { from: BENCH_NOW_MS - 30 * 3_600_000 - 1, to: BENCH_NOW_MS - 3 * 3_600_000 + 1 };

/** Searches of the big zone and how much each has to find, counted from the lines of the file in the plainest way. */
export async function expectedTotals(file: string): Promise<ExpectedTotal[]> {
  const events: GeneratedEvent[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    const event = JSON.parse(line) as GeneratedEvent;
    if (event.shieldZoneId === BIG_ZONE) {
      const { shieldZoneId, timestamp, ip, ua, url, ruleName, action, country } = event;
      events.push({ shieldZoneId, timestamp, ip, ua, url, ruleName, action, country });
    }
  }
  const count = (holds: (event: GeneratedEvent) => boolean) => events.filter(holds).length;
  const distinct = (value: (event: GeneratedEvent) => string) => new Set(events.map(value)).size;
  const filter = (field: string, op: string, value: string) => ({ ...WINDOW, filters: [{ field, op, value: [value] }] });
  return [
    { name: 'all', body: WINDOW, total: events.length },
    { name: 'a part of the time', body: HALF, total: count(({ timestamp }) => timestamp >= HALF.from && timestamp < HALF.to) },
    { name: 'one action', body: filter('action', 'eq', 'Blocked'), total: count(({ action }) => action === 'blocked') },
    { name: 'a range', body: filter('ip', 'cidr', '203.0.0.0/8'), total: count(({ ip }) => ip.startsWith('203.')) },
    { name: 'a wildcard', body: filter('url', 'wildcard', '*/ADMIN/*id=1*'), total: count(({ url }) => /\/admin\/.*id=1/.test(url)) },
    {
      name: 'two words',
      body: { ...WINDOW, query: 'injection cart' },
      total: count(({ url, ruleName }) => ruleName.includes('injection') && url.includes('cart')),
    },
    { name: 'addresses', body: { ...WINDOW, groupBy: ['ip'], buckets: 60 }, total: distinct(({ ip }) => ip) },
    {
      name: 'countries and actions',
      body: { ...WINDOW, groupBy: ['country', 'action'] },
      total: distinct(({ country, action }) => `${country} ${action}`),
    },
  ];
}
