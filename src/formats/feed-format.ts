import type { FeedEvent } from '../../store/feed-event.ts';
import { cefWriter } from './cef-format.ts';
import { ecsWriter } from './ecs-format.ts';
import { ocsfWriter } from './ocsf-format.ts';

const WRITERS = {
  // What `shieldlog ingest` takes, and what stands in ECS and OCSF as the original.
  native:
    () =>
    ({ json }) =>
      json,
  ecs: ecsWriter,
  ocsf: ocsfWriter,
  cef: cefWriter,
} as const satisfies Record<string, () => (event: FeedEvent) => string>;

export type FeedFormatName = keyof typeof WRITERS;

export const FEED_FORMATS: readonly FeedFormatName[] = ['native', 'ecs', 'ocsf', 'cef'];

/** How events are written for those who read the feed. */
export interface FeedFormat {
  readonly name: FeedFormatName;
  /** One line without the line end. There is no event it cannot write. */
  writeEvent(event: FeedEvent): string;
}

/** The format of that name, with caches of its own: made once and used for many events it is faster. */
export function feedFormat(name: FeedFormatName): FeedFormat {
  return { name, writeEvent: WRITERS[name]() };
}
