import ipaddr from 'ipaddr.js';

/** Whether only this machine can reach a program that listens on this host or address. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (bare === 'localhost') return true;
  // `isValid` would also take the old forms `127.1` and `0177.0.0.1`.
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return false;
  return ipaddr.process(bare).range() === 'loopback';
}

/** The host name of a `Host` header or of an origin's authority, without its port; null where there is none. */
export function hostNameOf(authority: string): string | null {
  const found = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]\s/@]+)(:\d{1,5})?$/.exec(authority);
  return found?.[1]?.toLowerCase() ?? null;
}
