import type { Random } from './seeded-random.ts';

/** A site, with its zone and its paths. */
export interface DemoSite {
  readonly zoneId: number;
  readonly host: string;
  readonly paths: readonly string[];
}

const SHOP = ['/', '/products', '/products/{n}', '/cart', '/checkout', '/login', '/search?q={w}', '/static/app.js', '/account/orders/{n}'];
const API = ['/api/v1/orders/{n}', '/api/v1/items?page={n}', '/api/v1/session', '/api/v2/search?q={w}', '/healthz'];
const BLOG = ['/', '/posts/{w}-{n}', '/feed.xml', '/tags/{w}', '/wp-login.php', '/images/{n}.webp'];

/** The busiest sites come first. */
export const DEMO_SITES: readonly DemoSite[] = [
  { zoneId: 1, host: 'shop.example.com', paths: SHOP },
  { zoneId: 2, host: 'api.example.com', paths: API },
  { zoneId: 3, host: 'blog.example.org', paths: BLOG },
  { zoneId: 7, host: 'www.example.net', paths: [...SHOP, ...BLOG] },
  { zoneId: 12, host: 'intranet.example.com', paths: API },
];

export const WORDS = ['shoes', 'winter', 'coffee', 'lamp', 'garden', 'bicycle', 'größe', 'кофе', 'ねこ', 'sale', 'summer', 'tea'];

/** The paths that a scanner requests. */
export const PROBED_PATHS = [
  '/.env',
  '/.git/config',
  '/wp-admin/setup-config.php',
  '/phpmyadmin/index.php',
  '/actuator/env',
  '/cgi-bin/luci',
  '/vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php',
  '/server-status',
  '/solr/admin/info/system',
  '/backup.zip',
  '/api/../../etc/passwd',
  '/owa/auth/logon.aspx',
];

/** A network of clients. Its addresses are from ranges for documentation, private use or tests. */
export interface DemoNetwork {
  readonly asn: string;
  readonly country: string;
  /** The first two or three numbers of IPv4, or the first groups of IPv6; the rest is random. */
  readonly prefix: string;
}

/** The AS numbers 64496 to 64511 are for documentation (RFC 5398), those from 64512 on for private use. */
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

export const SCANNER_NETWORK: DemoNetwork = { asn: '64510', country: 'NL', prefix: '198.51.100' };
export const STUFFING_NETWORKS: readonly DemoNetwork[] = [
  { asn: '64520', country: 'VN', prefix: '100.96' },
  { asn: '64521', country: 'ID', prefix: '100.97' },
  { asn: '64522', country: 'BR', prefix: '100.98' },
  { asn: '64523', country: 'UA', prefix: '2001:db8:bad' },
];
export const BOT_NET: DemoNetwork = { asn: '64530', country: 'SG', prefix: '100.112' };

/** Makes an address of the network, one of at most `hosts` different ones. */
export function demoAddress({ prefix }: DemoNetwork, random: Random, hosts: number): string {
  const host = 1 + random.below(hosts);
  if (prefix.includes(':')) {
    return `${prefix}::${host.toString(16)}`;
  }
  return prefix.split('.').length === 3 ? `${prefix}.${1 + (host % 254)}` : `${prefix}.${(host >> 8) & 0xff}.${host & 0xff}`;
}

/** Makes an address of an attacking network. A quarter of the requests come from a few hosts, which stand out in groups by address. */
export function attackerAddress(network: DemoNetwork, random: Random, { hosts, busyHosts }: { hosts: number; busyHosts: number }): string {
  return demoAddress(network, random, random.chance(25) ? busyHosts : hosts);
}

/** A kind of client: its user agent and the JA4 fingerprint of its TLS handshake. */
export interface DemoClient {
  readonly ua: string;
  readonly ja4: string;
}

export const BROWSERS: readonly DemoClient[] = [
  {
    ua: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36',
    ja4: 't13d1516h2_8daaf6152771_b186095e22b6',
  },
  {
    ua: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    ja4: 't13d2014h2_a09f3c656075_14788d8d241b',
  },
  { ua: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', ja4: 't13d1715h2_5b57614c22b0_3d5424432f57' },
  {
    ua:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ' +
      'Version/18.5 Mobile/15E148 Safari/604.1',
    ja4: 't13d2014h2_a09f3c656075_e42f34c56612',
  },
  {
    ua: 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36',
    ja4: 't13d1517h2_8daaf6152771_b0da82dd1658',
  },
];

export const GOOD_BOTS: readonly DemoClient[] = [
  { ua: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', ja4: 't13d1011h2_61a7ad8aa9b6_3a8073edd8ef' },
  { ua: 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)', ja4: 't12d1411h2_c866b44c5a26_b39be8c56a14' },
];

export const SCANNER: DemoClient = {
  ua: 'Mozilla/5.0 (compatible; Nuclei - Open-source project (github.com/projectdiscovery/nuclei))',
  ja4: 't13d190900_9dc949149365_97f8aa674fd9',
};

/** The members of the bot net share one handshake, but use different user agents. */
export const BOT_NET_JA4 = 't13d431000_c7886603b240_5ac7197df9d2';
export const SCRIPT_JA4 = 't13i181000_85036bcba153_d41ae481755e';
