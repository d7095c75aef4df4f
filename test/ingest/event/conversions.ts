import { EventCollector } from '../../../ingest/event/event-collector.ts';
import { EventKernel } from '../../../ingest/event/event-kernel.ts';
import { EventScanner } from '../../../ingest/event/event-scanner.ts';
import { allowedTimes } from '../../../ingest/event/event-verdict.ts';
import type { FieldColumns } from '../../../query/batch-columns.ts';
import { NOW, RULES } from './raw-events.ts';

const TIMES = allowedTimes(RULES, NOW);
const kernel = new EventKernel();
const scanned = new EventScanner(RULES);

/** A converted event: the bytes of its columns, its mask and its packed log without the newline, each in Latin-1. */
export interface Conversion {
  readonly columns: readonly string[];
  readonly mask: string;
  readonly log: string;
}

/**
 * What the kernel makes of an event at the time of the tests, or null where it leaves it to others, and then nothing of it behind. One and
 * the same kernel for all.
 */
export function kernelConversion(bytes: Uint8Array): Conversion | null {
  const events = new EventCollector();
  const isTaken = kernel.convert(bytes, null, TIMES, events);
  if (!isTaken && kernel.byteLengthFor(events) > 0) {
    throw new Error(`the kernel keeps ${kernel.byteLengthFor(events)} bytes of an event that it leaves to others`);
  }
  kernel.drain(events);
  return isTaken ? conversionOf(events) : null;
}

/** Returns the conversion by the scanner, or null if it does not accept the event. */
export function scannedConversion(bytes: Uint8Array): Conversion | null {
  const events = new EventCollector();
  const { kind } = scanned.convert(bytes, null, events);
  if (kind !== 'accepted' && events.byteLength > 0) {
    throw new Error(`${events.byteLength} bytes were written of an event that is ${kind}`);
  }
  return kind === 'accepted' ? conversionOf(events) : null;
}

/** The fields that were converted, for `decodedEvents`. */
export function fieldsOf({ columns, mask }: Conversion): FieldColumns {
  return { values: columns.map((bytes) => [Buffer.from(bytes, 'latin1')]), masks: [Buffer.from(mask, 'latin1')] };
}

function conversionOf(events: EventCollector): Conversion {
  const { fields, logs } = events.take();
  const log = textOf(logs);
  if (log.indexOf('\n') !== log.length - 1) {
    throw new Error(`a log is more or less than one line: ${log}`);
  }
  return { columns: fields.values.map(textOf), mask: textOf(fields.masks), log: log.slice(0, -1) };
}

function textOf(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString('latin1');
}
