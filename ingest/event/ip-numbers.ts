import { parseAddress } from '../../query/parse-address.ts';
import { isDigit } from './scan/json-bytes.ts';

const REMEMBERED_ADDRESSES = 4096;
/** The longest usual way to write an address; what is longer is not kept in memory. */
const LONGEST_REMEMBERED = 45;
const LOW_64 = (1n << 64n) - 1n;
const MAPPED_IPV4 = 0xffff_0000_0000;

/** The upper and the lower 64 bits of an address. */
export interface IpNumber {
  readonly high: bigint;
  readonly low: bigint;
}

/** Addresses as numbers, IPv4 as `::ffff:a.b.c.d`; null where a text is no address. */
export class IpNumbers {
  readonly #known = new Map<string, IpNumber | null>();

  /** Of the address in `text`, UTF-8. Dotted quads, which most are, are read from the bytes. */
  of(text: Buffer, start: number, end: number): IpNumber | null {
    const ipv4 = parseDottedQuad(text, start, end);
    return ipv4 < 0 ? this.#ofText(text.toString('utf8', start, end)) : { high: 0n, low: BigInt(MAPPED_IPV4 + ipv4) };
  }

  #ofText(address: string): IpNumber | null {
    const known = this.#known.get(address);
    if (known !== undefined) {
      return known;
    }
    const number = numberOf(address);
    if (address.length <= LONGEST_REMEMBERED) {
      if (this.#known.size >= REMEMBERED_ADDRESSES) {
        this.#known.clear();
      }
      this.#known.set(address, number);
    }
    return number;
  }
}

function numberOf(address: string): IpNumber | null {
  const number = parseAddress(address);
  return number === null ? null : { high: number >> 64n, low: number & LOW_64 };
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
