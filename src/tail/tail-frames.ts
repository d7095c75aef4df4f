import type { DropReason } from '../../query/plan/search-result.ts';
import type { FeedEvent } from '../../store/feed-event.ts';

/**
 * The messages of the stream, by the section on server-sent events of the HTML standard: lines of fields, and an empty line after each
 * message. A client that comes back sends the last `id` and gets the events after it.
 */

/** A client reconnects so soon after the stream broke off. */
const RETRY_MS = 2_000;

/**
 * Returns the message before the first event: a client that then loses the connection resumes from `cursor`. It has data, because clients
 * ignore the id of a message without data.
 */
export function readyFrame(cursor: string): Buffer {
  return Buffer.from(`retry: ${RETRY_MS}\nid: ${cursor}\nevent: ready\ndata: {"cursor":${JSON.stringify(cursor)}}\n\n`);
}

/**
 * Returns an event as JSON: a row of the search, and the zone. The parts are cut out of the JSON of the feed: a quote inside a text has a
 * backslash before it, so no text contains one of the keys.
 */
export function eventData({ json, zoneId }: Pick<FeedEvent, 'json' | 'zoneId'>): string {
  const zoneAt = json.indexOf(',"shieldZoneId":');
  const timeAt = json.indexOf(',"timestamp":', zoneAt);
  const fieldsAt = json.indexOf(',', timeAt + 1);
  const logAt = json.indexOf(',"log":', timeAt);
  const log = json.slice(logAt, -1);
  const fields = json.slice(fieldsAt + 1, logAt);
  return `${json.slice(0, zoneAt)}${json.slice(timeAt, fieldsAt)}${log},"fields":{${fields}},"shieldZoneId":${zoneId}}`;
}

export function eventFrame(data: string, cursor: string): Buffer {
  return Buffer.from(`id: ${cursor}\nevent: event\ndata: ${data}\n\n`);
}

/** Returns the message that `count` events were left out here. It has no id, so a client that resumes gets them. */
export function droppedFrame(count: number, reason: DropReason): Buffer {
  return Buffer.from(`event: dropped\ndata: {"count":${count},"reason":"${reason}"}\n\n`);
}

/** Returns a heartbeat. Its id lets clients that accept one without data resume after events that did not match. */
export function heartbeatFrame(cursor: string): Buffer {
  return Buffer.from(`: alive\nid: ${cursor}\n\n`);
}
