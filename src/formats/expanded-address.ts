import { parseAddress } from '../../query/parse-address.ts';

/** An address as eight groups of four hexadecimal digits: 39 characters, however it was written. The text itself where it is no address. */
export function expandedAddress(text: string): string {
  const address = parseAddress(text);
  return address === null ? text : (address.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
}
