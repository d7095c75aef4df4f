import fc from 'fast-check';

/** One byte flipped, left out, put in; or the end cut off. */
type Damage = readonly [at: number, kind: 'replace' | 'remove' | 'insert' | 'cut', byte: number];

export const damage: fc.Arbitrary<Damage> = fc.tuple(
  fc.nat(),
  fc.constantFrom('replace', 'remove', 'insert', 'cut'),
  fc.oneof(
    fc.nat(255),
    fc.constantFrom(...Buffer.from('{}[]:,"\\ue0-+.19a \t\n\0')),
    fc.constantFrom(0x7f, 0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xf0, 0xf4),
  ),
);

export function damaged(bytes: Buffer, [at, kind, byte]: Damage): Buffer {
  const index = at % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, index), bytes.subarray(index)];
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
