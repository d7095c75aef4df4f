// Measures how fast records of other products become events, without the store: node bench/mapping-speed.ts [rounds]
// Each line is the best of the rounds, which take all steps in turns, so that a busy machine slows none of them alone.
import { BatchBuilder } from '../ingest/event/batch-builder.ts';
import { loadMappings } from '../ingest/mapping/named-mappings.ts';
import { RecordMapper } from '../ingest/mapping/record-mapper.ts';
import { HOUR_MS } from '../query/durations.ts';
import { wafRecord } from './events/waf-record.ts';

const RECORDS = 4_000;
const rounds = Number(process.argv[2] ?? 8);
const mapping = loadMappings(null).get('aws-waf')?.mapping;
if (mapping === undefined) throw new Error('there is no preset aws-waf');
const mapper = new RecordMapper(mapping, { given: 7, fallback: null, opens: () => true });

function mappedEvent(bytes: Buffer): Buffer {
  let event: Buffer | undefined;
  mapper.map(bytes, (one) => {
    if (one.kind === 'event') event = one.event;
  });
  if (event === undefined) throw new Error('a record became no event');
  return event;
}

const records = Array.from({ length: RECORDS }, (_, index) => wafRecord(index, Date.now() - index * 1_000));
const events = records.map(mappedEvent);
const builder = new BatchBuilder({ now: Date.now, retentionMs: 72 * HOUR_MS });

function take(all: readonly Buffer[]): void {
  for (const event of all) builder.addEvent('http', event);
  const batch = builder.take();
  builder.release(batch);
  if (batch.eventCount !== all.length) throw new Error(`${batch.eventCount} of ${all.length} events were accepted`);
}

/** What is taken in turns, with how many bytes an item of it has. */
const STEPS: readonly (readonly [string, readonly Buffer[], () => void])[] = [
  ['JSON.parse of a record', records, () => records.forEach((bytes) => void JSON.parse(bytes.toString()))],
  ['a record mapped', records, () => records.forEach((bytes) => void mappedEvent(bytes))],
  ['a mapped event taken in', events, () => take(events)],
  ['a record mapped and taken in', records, () => take(records.map(mappedEvent))],
];
const bestUs = STEPS.map(() => Number.POSITIVE_INFINITY);
for (let round = 0; round < rounds; round++) {
  for (const [index, [, , run]] of STEPS.entries()) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    bestUs[index] = Math.min(bestUs[index] ?? 0, (user + system) / RECORDS);
  }
}
for (const [index, [name, items]] of STEPS.entries()) {
  const bytes = items.reduce((sum, item) => sum + item.length, 0) / items.length;
  const us = bestUs[index] ?? 0;
  console.log(`${name.padEnd(30)} ${us.toFixed(2)} µs of CPU  ${Math.round(1e6 / us)}/s  (${Math.round(bytes)} bytes each)`);
}
