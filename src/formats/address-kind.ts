import { parseAddress } from '../../query/parse-address.ts';

export type AddressKind = 'ipv4' | 'ipv6' | 'none';

/** Whether a text is an address, by the rules that the search goes by. */
export function addressKind(text: string): AddressKind {
  if (parseAddress(text) === null) {
    return 'none';
  }
  return text.includes(':') ? 'ipv6' : 'ipv4';
}
