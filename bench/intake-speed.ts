// Measures how fast raw events become columns and packed logs, without the store: node bench/intake-speed.ts [rounds]
// "plain" events have the usual form, "composed" ones a text timestamp, a numeric asn and members that go into the log.
import { BatchBuilder, type PartitionRecords } from '../ingest/event/batch-builder.ts';
import { HOUR_MS } from '../query/durations.ts';

const EVENTS = 4000;
const rounds = Number(process.argv[2] ?? 8);
const now = Date.now();

const ua = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

function sampleEvent(index: number) {
  const ip = `203.0.${index % 256}.${(index * 7) % 256}`;
  const url = `https://shop.example.com/products/${index}/details?ref=mail&utm_source=x${index}`;
  const headers = [
    { Name: 'Host', Value: 'shop.example.com' },
    { Name: 'User-Agent', Value: ua },
    { Name: 'Accept', Value: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
    { Name: 'Accept-Language', Value: 'en-US,en;q=0.5' },
  ];
  const log = {
    ServerZoneId: 'FR',
    Message: 'Matched phrase "union select" at ARGS:q',
    Url: url,
    RemoteIp: ip,
    Headers: headers,
    TriggerMatch: { Key: 'ARGS:q', Value: '1 union select password' },
    UrlEncodedBody: '',
  };
  const rule = { feature: 'waf', ruleId: '942100', ruleName: 'SQL Injection Attack Detected via libinjection' };
  const client = { ip, ja4: 't13d1516h2_8daaf6152771_b186095e22b6', ua, url, asn: '64500', country: 'DE', action: 'blocked' };
  return { logId: `evt-${index}-abcdef0123456789`, shieldZoneId: 1 + (index % 20), timestamp: now - index * 1000, ...rule, ...client, log };
}

function plainEvent(index: number): Buffer {
  return Buffer.from(JSON.stringify(sampleEvent(index)));
}

function composedEvent(index: number): Buffer {
  const event = sampleEvent(index);
  return Buffer.from(
    JSON.stringify({ ...event, timestamp: new Date(event.timestamp).toISOString(), asn: 64500, datacenter: 'FR1', bytes: 1234 }),
  );
}

function withoutId(index: number): Buffer {
  const { logId: _, ...event } = sampleEvent(index);
  return Buffer.from(JSON.stringify(event));
}

function measure(name: string, events: readonly Buffer[], add: (builder: BatchBuilder) => void): void {
  const builder = new BatchBuilder({ now: Date.now, retentionMs: 72 * HOUR_MS });
  let bestNs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    for (let repeat = 0; repeat < 5; repeat++) {
      add(builder);
      const batch = builder.take();
      builder.release(batch);
      if (batch.eventCount !== events.length) {
        throw new Error(`${name}: ${batch.eventCount} of ${events.length} events were accepted`);
      }
    }
    bestNs = Math.min(bestNs, Number(process.hrtime.bigint() - start) / 5 / events.length);
  }
  const bytes = events.reduce((sum, event) => sum + event.length, 0) / events.length;
  console.log(
    `${name.padEnd(28)} ${(bestNs / 1000).toFixed(2)} µs/event  ${Math.round(1e9 / bestNs)} events/s  (${Math.round(bytes)} bytes each)`,
  );
}

/** The events as the records of one batch, each behind some bytes of its own. */
function recordsOf(events: readonly Buffer[]): PartitionRecords {
  const pieces = events.flatMap((event) => [Buffer.alloc(10), event]);
  const [starts, ends] = [new Int32Array(events.length), new Int32Array(events.length)];
  let at = 0;
  for (const [index, event] of events.entries()) {
    starts[index] = at + 10;
    at += 10 + event.length;
    ends[index] = at;
  }
  return { base: 0n, bytes: Buffer.concat(pieces), count: events.length, starts, ends, deltas: Int32Array.from(events.keys()) };
}

function measureKafka(name: string, events: readonly Buffer[]): void {
  const records = recordsOf(events);
  measure(`${name}, from Kafka`, events, (builder) => {
    for (let index = 0; index < records.count; index++) {
      index = builder.convertRecords('events', 0, records, index);
      const event = events[index];
      if (event !== undefined) builder.tryKafkaMessage('events', 0, BigInt(index), event);
    }
  });
}

function measureHttp(name: string, events: readonly Buffer[]): void {
  measure(`${name}, over HTTP`, events, (builder) => {
    for (const event of events) builder.addEvent('http', event);
  });
}

const indices = Array.from({ length: EVENTS }, (_, index) => index);
measureKafka('plain', indices.map(plainEvent));
measureHttp('plain', indices.map(plainEvent));
measureKafka('plain without id', indices.map(withoutId));
measureHttp('plain without id', indices.map(withoutId));
measureKafka('composed', indices.map(composedEvent));
