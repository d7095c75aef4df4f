import { rawEvent, rawEventWith } from './raw-events.ts';

export const LONGEST_KERNEL_EVENT = 64 * 1024;

/** The least event with a log that is written as it is. */
export const withLog = (log: string) => rawEvent().replace('{}', log);
export const withIp = (ip: string) => rawEventWith(`"ip":"${ip}"`);
/** An event whose log is that many levels deep. */
export const nested = (levels: number) => withLog(`{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`);
/** An event of that length. */
export const ofBytes = (bytes: number) => rawEvent({ ua: 'x'.repeat(bytes - rawEvent({ ua: '' }).length) });
