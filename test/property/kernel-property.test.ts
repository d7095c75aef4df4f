import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIp } from '../../query/address.ts';
import { arbitraryRawEvent } from '../ingest/event/arbitrary-raw-event.ts';
import { arbitraryRepeatingEvent } from '../ingest/event/arbitrary-repeating-event.ts';
import { arbitraryUsualEvent } from '../ingest/event/arbitrary-usual-event.ts';
import { fieldsOf, kernelConversion, scannedConversion } from '../ingest/event/conversions.ts';
import { decodedEvents } from '../ingest/event/decoded-fields.ts';
import { plainlyPacked, unpacked } from '../ingest/event/plain-packing.ts';
import { rawEvent } from '../ingest/event/raw-events.ts';
import { assertProperty } from '../random/assert-property.ts';
import { propertyRuns } from '../random/property-runs.ts';
import { maskedAddress } from './arbitrary-address.ts';
import { damage, damaged } from './damaged-bytes.ts';

/** Surrogates in escapes are left to the scanner. */
const hasEscapedSurrogate = (event: string) => /\\u[dD][89a-fA-F]/.test(event);

test('the kernel takes usual events and writes the columns and the log that the scanner writes', () => {
  assertProperty(
    fc.property(arbitraryUsualEvent, (event) => {
      fc.pre(!hasEscapedSurrogate(event));
      const bytes = Buffer.from(event);
      expect(kernelConversion(bytes)).toEqual(scannedConversion(bytes) ?? 'nothing');
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

test('kernel and scanner pack logs that repeat values of their events as defined, and unpacking gives the logs back', () => {
  let [marked, taken, all] = [0, 0, 0];
  assertProperty(
    fc.property(arbitraryRepeatingEvent, ({ event, log, values }) => {
      const bytes = Buffer.from(event);
      const scanned = scannedConversion(bytes);
      // Where values and log repeat themselves too much, the kernel leaves the event to the scanner.
      const ofKernel = kernelConversion(bytes);
      expect(ofKernel ?? scanned).toEqual(scanned);
      const packed = decoded(scanned?.log ?? '');
      expect(packed).toBe(plainlyPacked(log, values));
      expect(unpacked(packed, values)).toBe(log);
      all++;
      taken += ofKernel === null ? 0 : 1;
      marked += packed === log ? 0 : 1;
    }),
    { numRuns: propertyRuns(7_000) },
  );
  // Otherwise hardly anything was compared, or nothing was packed.
  expect(taken).toBeGreaterThan(all * 0.95);
  expect(marked).toBeGreaterThan(all / 3);
});

test('of events of every kind, damaged and whole, the kernel takes none that the scanner refuses or writes otherwise', () => {
  let [taken, all] = [0, 0];
  const repeating = arbitraryRepeatingEvent.map(({ event }) => event);
  const events = fc.oneof({ weight: 3, arbitrary: arbitraryUsualEvent }, repeating, arbitraryRawEvent);
  assertProperty(
    fc.property(events, fc.array(damage, { maxLength: 3 }), (event, damages) => {
      const bytes = damages.reduce(damaged, Buffer.from(event));
      const ofKernel = kernelConversion(bytes);
      all++;
      if (ofKernel !== null) {
        taken++;
        expect(ofKernel).toEqual(scannedConversion(bytes));
      }
    }),
    { numRuns: propertyRuns(7_000) },
  );
  // Otherwise nothing was compared.
  expect(taken).toBeGreaterThan(all / 20);
});

/** Throws where the bytes are no UTF-8. */
function decoded(latin1: string): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, 'latin1'));
}

/** Throws where the text is no JSON, or has half of a surrogate pair in a name or a value. */
function strictlyParsed(text: string): Record<string, unknown> {
  return JSON.parse(text, (name, value: unknown) => {
    if (!name.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) {
      throw new Error(`half a surrogate pair in ${JSON.stringify({ [name]: value })}`);
    }
    return value;
  }) as Record<string, unknown>;
}

test('every accepted event has columns as defined and a log of JSON in UTF-8 with no control characters but tabs', () => {
  let accepted = 0;
  const repeating = arbitraryRepeatingEvent.map(({ event }) => event);
  const events = fc.oneof(arbitraryUsualEvent, repeating, { weight: 2, arbitrary: arbitraryRawEvent });
  assertProperty(
    fc.property(events, fc.array(damage, { maxLength: 2 }), (event, damages) => {
      const scanned = scannedConversion(damages.reduce(damaged, Buffer.from(event)));
      if (scanned !== null) {
        accepted++;
        // That throws where they are not.
        const [fields = {}] = decodedEvents(fieldsOf(scanned));
        const log = unpacked(decoded(scanned.log), fields);
        expect(log).not.toMatch(/(?!\t)\p{Cc}(?<![\x7f-\x9f])/u);
        expect(typeof strictlyParsed(log)).toBe('object');
      }
    }),
    { numRuns: propertyRuns(7_000) },
  );
  expect(accepted).toBeGreaterThan(2000);
});

test('the kernel takes an address in its usual forms exactly where the search reads one', () => {
  const group = fc.oneof(
    fc.nat(0xffff).map((value) => value.toString(16)),
    fc.constantFrom('', '', '0', '00001', '0000', 'FFFF', 'g', '-1', '%', '*', '*'),
  );
  const octet = fc.oneof(fc.nat(300).map(String), fc.constantFrom('00', '01', '', '1e1', '0x1', ' 1', '*', '*'));
  const addresses = fc.oneof(
    fc.array(group, { minLength: 1, maxLength: 10 }).map((groups) => groups.join(':')),
    fc.array(octet, { minLength: 1, maxLength: 5 }).map((octets) => octets.join('.')),
    fc.ipV4(),
    fc.ipV6(),
    maskedAddress,
  );
  assertProperty(
    fc.property(addresses, (ip) => {
      const bytes = Buffer.from(rawEvent({ ip }));
      const isMixed = ip.includes(':') && ip.includes('.');
      expect(kernelConversion(bytes)).toEqual(parseIp(ip) === null || isMixed ? null : scannedConversion(bytes));
    }),
    { numRuns: propertyRuns(7_000) },
  );
});
