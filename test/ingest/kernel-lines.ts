import { EventKernel } from '../../ingest/event-kernel.ts';
import { CLOCK_TOLERANCE_MS } from '../../ingest/event-rules.ts';
import { LineBuffer } from '../../ingest/line-buffer.ts';
import { ScannedEvents } from '../../ingest/scanned-events.ts';
import { NOW, RULES } from './raw-events.ts';

const kernel = new EventKernel();
const scanned = new ScannedEvents(RULES);

/** What the kernel makes of an event at the time of the tests: its line, or null where it leaves it to others. One and the same kernel for all. */
export function kernelLine(bytes: Uint8Array): string | null {
  const lines = new LineBuffer();
  const isTaken = kernel.convert(bytes, null, NOW - RULES.retentionMs, NOW + CLOCK_TOLERANCE_MS, lines);
  return isTaken ? Buffer.concat(lines.take()).toString('latin1') : null;
}

/** What the scanner makes of it: its line, or null where it accepts none. */
export function scannedLine(bytes: Uint8Array): string | null {
  const lines = new LineBuffer();
  const { kind } = scanned.convert(bytes, null, lines);
  return kind === 'accepted' ? Buffer.concat(lines.take()).toString('latin1') : null;
}
