import { ConvertedEvents } from '../../ingest/converted-events.ts';
import { EventKernel } from '../../ingest/event-kernel.ts';
import { CLOCK_TOLERANCE_MS } from '../../ingest/event-rules.ts';
import { ScannedEvents } from '../../ingest/scanned-events.ts';
import { NOW, RULES } from './raw-events.ts';

const kernel = new EventKernel();
const scanned = new ScannedEvents(RULES);

/** What the kernel makes of an event at the time of the tests: its line, then its packed log, or null where it leaves it to others. One and the same kernel for all. */
export function kernelLines(bytes: Uint8Array): string | null {
  const events = new ConvertedEvents();
  const isTaken = kernel.convert(bytes, null, NOW - RULES.retentionMs, NOW + CLOCK_TOLERANCE_MS, events);
  return isTaken ? textOf(events) : null;
}

/** What the scanner makes of it: its line, then its packed log, or null where it accepts none. */
export function scannedLines(bytes: Uint8Array): string | null {
  const events = new ConvertedEvents();
  const { kind } = scanned.convert(bytes, null, events);
  return kind === 'accepted' ? textOf(events) : null;
}

function textOf(events: ConvertedEvents): string {
  const { lines, logs } = events.take();
  return Buffer.concat([...lines, ...logs]).toString('latin1');
}
