import type { Random } from './demo-random.ts';

/**
 * A network that visitors of the demonstration come from. Addresses are of the ranges for documentation, and of some that are private or
 * for tests.
 */
export interface DemoNetwork {
  readonly asn: string;
  readonly country: string;
  /** Of IPv4 the first two or three numbers, of IPv6 the first groups; the rest is random. */
  readonly prefix: string;
}

/** AS numbers 64496 to 64511 are for documentation (RFC 5398), those from 64512 on private. */
export const VISITOR_NETWORKS: readonly DemoNetwork[] = [
  { asn: '64496', country: 'US', prefix: '198.18' },
  { asn: '64496', country: 'US', prefix: '2001:db8:10' },
  { asn: '64497', country: 'DE', prefix: '198.19' },
  { asn: '64497', country: 'DE', prefix: '2001:db8:20' },
  { asn: '64498', country: 'FR', prefix: '203.0.113' },
  { asn: '64499', country: 'GB', prefix: '100.64' },
  { asn: '64500', country: 'JP', prefix: '100.65' },
  { asn: '64501', country: 'BR', prefix: '100.66' },
  { asn: '64502', country: 'IN', prefix: '100.67' },
  { asn: '64502', country: 'IN', prefix: '2001:db8:30' },
  { asn: '64503', country: 'PL', prefix: '100.68' },
  { asn: '64504', country: 'AU', prefix: '192.0.2' },
];

/** The attackers. */
export const SCANNER_NETWORK: DemoNetwork = { asn: '64510', country: 'NL', prefix: '198.51.100' };
export const STUFFING_NETWORKS: readonly DemoNetwork[] = [
  { asn: '64520', country: 'VN', prefix: '100.96' },
  { asn: '64521', country: 'ID', prefix: '100.97' },
  { asn: '64522', country: 'BR', prefix: '100.98' },
  { asn: '64523', country: 'UA', prefix: '2001:db8:bad' },
];
export const BOT_NET: DemoNetwork = { asn: '64530', country: 'SG', prefix: '100.112' };

/** An address of the network; `hosts` bounds how many different ones there are. */
export function demoAddress({ prefix }: DemoNetwork, random: Random, hosts: number): string {
  const host = 1 + random.below(hosts);
  if (prefix.includes(':')) {
    return `${prefix}::${host.toString(16)}`;
  }
  return prefix.split('.').length === 3 ? `${prefix}.${1 + (host % 254)}` : `${prefix}.${(host >> 8) & 0xff}.${host & 0xff}`;
}

/**
 * An address of an attacking network. A quarter of its requests come from a few busy hosts, which stand out where one groups by address.
 */
export function attackerAddress(network: DemoNetwork, random: Random, { hosts, busyHosts }: { hosts: number; busyHosts: number }): string {
  return demoAddress(network, random, random.chance(25) ? busyHosts : hosts);
}
