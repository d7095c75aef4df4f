import type { FeedClientOptions } from '../../../../src/cli/feed/feed-client.ts';

/** How the tests' loop of a feed asks a program: for zone 7, in the program's own format. */
export function feedReader(url: string, client: FeedClientOptions['client'], maxAnswerBytes: number = 1_000_000): FeedClientOptions {
  return {
    client,
    url: new URL(url),
    zone: '7',
    accessKey: null,
    format: 'native',
    part: null,
    search: null,
    maxLine: null,
    maxAnswerBytes,
    now: Date.now,
  };
}
