import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress } from '../../query/parse-address.ts';
import { arbitraryRawEvent } from '../ingest/arbitrary-raw-event.ts';
import { arbitraryUsualEvent } from '../ingest/arbitrary-usual-event.ts';
import { kernelLine, scannedLine } from '../ingest/kernel-lines.ts';
import { rawEvent } from '../ingest/raw-events.ts';

/** Surrogates in escapes are left to the scanner. */
const hasEscapedSurrogate = (event: string) => /\\u[dD][89a-fA-F]/.test(event);

test('the kernel takes usual events and writes the line that the scanner writes', () => {
  fc.assert(
    fc.property(arbitraryUsualEvent, (event) => {
      fc.pre(!hasEscapedSurrogate(event));
      const bytes = Buffer.from(event);
      expect(kernelLine(bytes)).toBe(scannedLine(bytes) ?? 'nothing');
    }),
    { numRuns: 5000 },
  );
});

/** One byte flipped, left out, put in; or the end cut off. */
type Damage = readonly [at: number, kind: 'replace' | 'remove' | 'insert' | 'cut', byte: number];

const damage: fc.Arbitrary<Damage> = fc.tuple(
  fc.nat(),
  fc.constantFrom('replace', 'remove', 'insert', 'cut'),
  fc.oneof(
    fc.nat(255),
    fc.constantFrom(...Buffer.from('{}[]:,"\\ue0-+.19a \t\n\0')),
    fc.constantFrom(0x7f, 0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xf0, 0xf4),
  ),
);

function damaged(bytes: Buffer, [at, kind, byte]: Damage): Buffer {
  const place = at % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
  switch (kind) {
    case 'replace':
      return Buffer.concat([before, Buffer.from([byte]), after.subarray(1)]);
    case 'remove':
      return Buffer.concat([before, after.subarray(1)]);
    case 'insert':
      return Buffer.concat([before, Buffer.from([byte]), after]);
    case 'cut':
      return before;
  }
}

test('of events of every kind, damaged and whole, the kernel takes none that the scanner refuses or writes otherwise', () => {
  let [taken, all] = [0, 0];
  const events = fc.oneof({ weight: 3, arbitrary: arbitraryUsualEvent }, arbitraryRawEvent);
  fc.assert(
    fc.property(events, fc.array(damage, { maxLength: 3 }), (event, damages) => {
      const bytes = damages.reduce(damaged, Buffer.from(event));
      const line = kernelLine(bytes);
      all++;
      if (line !== null) {
        taken++;
        expect(line).toBe(scannedLine(bytes));
      }
    }),
    { numRuns: 20_000 },
  );
  // Otherwise nothing was compared.
  expect(taken).toBeGreaterThan(all / 20);
});

test('the kernel takes an address in its usual forms exactly where the search reads one', () => {
  const group = fc.oneof(
    fc.nat(0xffff).map((value) => value.toString(16)),
    fc.constantFrom('', '', '0', '00001', '0000', 'FFFF', 'g', '-1', '%'),
  );
  const octet = fc.oneof(fc.nat(300).map(String), fc.constantFrom('00', '01', '', '1e1', '0x1', ' 1'));
  const addresses = fc.oneof(
    fc.array(group, { minLength: 1, maxLength: 10 }).map((groups) => groups.join(':')),
    fc.array(octet, { minLength: 1, maxLength: 5 }).map((octets) => octets.join('.')),
    fc.ipV4(),
    fc.ipV6(),
  );
  fc.assert(
    fc.property(addresses, (ip) => {
      const bytes = Buffer.from(rawEvent({ ip }));
      const isMixed = ip.includes(':') && ip.includes('.');
      expect(kernelLine(bytes)).toBe(parseAddress(ip) === null || isMixed ? null : scannedLine(bytes));
    }),
    { numRuns: 20_000 },
  );
});
