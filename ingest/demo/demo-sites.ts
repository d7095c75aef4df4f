/** The sites behind the demonstration's zones; busy ones come first and get most of the events. */
export interface DemoSite {
  readonly zoneId: number;
  readonly host: string;
  readonly paths: readonly string[];
}

const SHOP = ['/', '/products', '/products/{n}', '/cart', '/checkout', '/login', '/search?q={w}', '/static/app.js', '/account/orders/{n}'];
const API = ['/api/v1/orders/{n}', '/api/v1/items?page={n}', '/api/v1/session', '/api/v2/search?q={w}', '/healthz'];
const BLOG = ['/', '/posts/{w}-{n}', '/feed.xml', '/tags/{w}', '/wp-login.php', '/images/{n}.webp'];

export const DEMO_SITES: readonly DemoSite[] = [
  { zoneId: 1, host: 'shop.example.com', paths: SHOP },
  { zoneId: 2, host: 'api.example.com', paths: API },
  { zoneId: 3, host: 'blog.example.org', paths: BLOG },
  { zoneId: 7, host: 'www.example.net', paths: [...SHOP, ...BLOG] },
  { zoneId: 12, host: 'intranet.example.com', paths: API },
];

export const WORDS = ['shoes', 'winter', 'coffee', 'lamp', 'garden', 'bicycle', 'größe', 'кофе', 'ねこ', 'sale', 'summer', 'tea'];

/** What a scanner asks for. */
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
