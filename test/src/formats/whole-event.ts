import { NOW } from '../../fixtures/present.ts';
import { feedEvent } from './feed-events.ts';

export const WHOLE_URL = 'https://www.shop.example.co.uk:8443/a/b.tar.gz?q=1%20union#frag';
export const UA = 'Mozilla/5.0 (X11; Linux x86_64)';
export const JA4 = 't13d1516h2_8daaf6152771_b186095e22b6';

/** An event that has everything. */
export const WHOLE_EVENT = feedEvent({
  sequence: 4711n,
  zoneId: 7,
  timestamp: NOW,
  ingestedAtMs: NOW + 250,
  logId: 'e-1',
  fields: {
    feature: 'waf',
    ruleId: '942100',
    ruleName: 'SQL injection',
    ip: '203.0.113.9',
    ja4: JA4,
    ua: UA,
    url: WHOLE_URL,
    asn: '64500',
    country: 'de',
    action: 'blocked',
  },
  log: {
    Message: 'Matched a phrase',
    RemoteIp: '198.51.100.4',
    Headers: [
      { Name: 'Host', Value: 'www.shop.example.co.uk' },
      { Name: 'REFERER', Value: 'https://news.example.org/' },
    ],
    TriggerMatch: { Key: 'ARGS:q', Value: '1 union' },
  },
});
