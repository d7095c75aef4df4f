import type { FeedEvent } from '../../store/event-store.ts';
import { writeNative } from './native-format.ts';

export const FEED_FORMATS = ['native'] as const;

export type FeedFormatName = (typeof FEED_FORMATS)[number];

/** How events are written for those who read the feed. */
export interface FeedFormat {
  readonly name: FeedFormatName;
  /** One line without the line end. There is no event it cannot write. */
  writeEvent(event: FeedEvent): string;
}

/** The format of that name, with caches of its own: made once and used for many events it is faster. */
export function feedFormat(name: FeedFormatName): FeedFormat {
  return { name, writeEvent: writeNative };
}
