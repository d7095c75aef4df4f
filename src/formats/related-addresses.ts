import { parseAddress } from '../../query/parse-address.ts';
import type { EventFacts } from './event-facts.ts';

/** The addresses of an event: the client's, and another one that its log has as the peer of the connection. */
export function relatedAddresses({ address, addressKind: kind, log: { remoteIp } }: EventFacts): readonly string[] {
  const own = kind === 'none' ? [] : [address];
  if (remoteIp === undefined || remoteIp === address) {
    return own;
  }
  const peer = parseAddress(remoteIp);
  return peer === null || peer === parseAddress(address) ? own : [...own, remoteIp];
}
