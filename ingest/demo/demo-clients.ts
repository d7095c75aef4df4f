/** A kind of client: what it calls itself and how its TLS handshake looks (JA4). */
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
    ua: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
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

/** What the bot net's members have in common is their handshake; they take turns at names. */
export const BOT_NET_JA4 = 't13d431000_c7886603b240_5ac7197df9d2';
export const SCRIPT_JA4 = 't13i181000_85036bcba153_d41ae481755e';
