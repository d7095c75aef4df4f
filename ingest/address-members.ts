import { parseAddress } from '../query/parse-address.ts';
import { isDigit } from './json-bytes.ts';

const REMEMBERED_ADDRESSES = 4096;
/** The longest usual way to write an address; what is longer is not kept in memory. */
const LONGEST_REMEMBERED = 45;
const LOW_64 = (1n << 64n) - 1n;
const MAPPED_IPV4 = 0xffff_0000_0000;

/** The `ipHigh` and `ipLow` members of an address, with a comma before each; empty where the text is no address. */
export class AddressMembers {
  readonly #known = new Map<string, string>();

  of(address: string): string {
    const known = this.#known.get(address);
    if (known !== undefined) {
      return known;
    }
    if (address.length > LONGEST_REMEMBERED) {
      return addressMembers(parseAddress(address));
    }
    if (this.#known.size >= REMEMBERED_ADDRESSES) {
      this.#known.clear();
    }
    const members = addressMembers(parseAddress(address));
    this.#known.set(address, members);
    return members;
  }

  /** The same for the address that stands in `text`, plain ASCII. Dotted quads, which most are, are read from the bytes. */
  ofBytes(text: Buffer, start: number, end: number): string {
    const ipv4 = parseDottedQuad(text, start, end);
    return ipv4 < 0 ? this.of(text.toString('latin1', start, end)) : `,"ipHigh":0,"ipLow":${MAPPED_IPV4 + ipv4}`;
  }
}

function addressMembers(address: bigint | null): string {
  return address === null ? '' : `,"ipHigh":${address >> 64n},"ipLow":${address & LOW_64}`;
}

/** The number of a dotted quad without leading zeros, or -1 where the text is none: then `parseAddress` decides. */
export function parseDottedQuad(text: Uint8Array, start: number, end: number): number {
  let address = 0;
  let index = start;
  for (let part = 0; part < 4; part++) {
    const partStart = index;
    let value = 0;
    while (index < end && index < partStart + 3 && isDigit(text[index])) {
      value = value * 10 + text[index]! - 0x30;
      index++;
    }
    const leadingZero = text[partStart] === 0x30 && index > partStart + 1;
    if (index === partStart || value > 255 || leadingZero || (part < 3 && (index >= end || text[index] !== 0x2e))) {
      return -1;
    }
    address = address * 256 + value;
    index += part < 3 ? 1 : 0;
  }
  return index === end ? address : -1;
}
