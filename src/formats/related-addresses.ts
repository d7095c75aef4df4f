import { addressKind } from './address-kind.ts';
import type { EventFacts } from './event-facts.ts';

/** The addresses of an event: the client's, and another one that its log has as the peer of the connection. */
export function relatedAddresses({ address, addressKind: kind, log: { remoteIp } }: EventFacts): readonly string[] {
  const own = kind === 'none' ? [] : [address];
  const isAnother = remoteIp !== undefined && remoteIp !== address && addressKind(remoteIp) !== 'none';
  return isAnother ? [...own, remoteIp] : own;
}
