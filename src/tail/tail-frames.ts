import type { FeedEvent } from '../../store/feed-event.ts';

/**
 * The stream's messages, as the section on server-sent events of the HTML standard has them: lines of fields, each message closed by an
 * empty line. `id` is where a client that comes back goes on behind.
 */

/** How soon a client comes back when the stream breaks off. */
const RETRY_MS = 2_000;

/**
 * The first message, before any event: whoever loses the connection now goes on from here. It has data, because clients forget the id of a
 * message without.
 */
export function readyFrame(cursor: string): Buffer {
  return Buffer.from(`retry: ${RETRY_MS}\nid: ${cursor}\nevent: ready\ndata: {"cursor":${JSON.stringify(cursor)}}\n\n`);
}

/**
 * What a message says of an event: a row of the search, and the zone. The parts are cut out of its JSON: a quote inside of a text has a
 * backslash before it, so none of the keys can be found in one.
 */
export function eventData({ json, zoneId }: Pick<FeedEvent, 'json' | 'zoneId'>): string {
  const zoneAt = json.indexOf(',"shieldZoneId":');
  const timeAt = json.indexOf(',"timestamp":', zoneAt);
  const fieldsAt = json.indexOf(',', timeAt + 1);
  const logAt = json.indexOf(',"log":', timeAt);
  const log = json.slice(logAt, -1);
  return `${json.slice(0, zoneAt)}${json.slice(timeAt, fieldsAt)}${log},"fields":{${json.slice(fieldsAt + 1, logAt)}},"shieldZoneId":${zoneId}}`;
}

export function eventFrame(data: string, cursor: string): Buffer {
  return Buffer.from(`id: ${cursor}\nevent: event\ndata: ${data}\n\n`);
}

/** Why events were left out: the client did not read, or to try its conditions on them costs too much. */
export type DropReason = 'unread' | 'costly';

/** So many events were left out here. It has no id: resuming after the last event before it brings them back. */
export function droppedFrame(count: number, reason: DropReason): Buffer {
  return Buffer.from(`event: dropped\ndata: {"count":${count},"reason":"${reason}"}\n\n`);
}

/** A sign of life, which also moves the id of clients that take one without data over events that did not match. */
export function heartbeatFrame(cursor: string): Buffer {
  return Buffer.from(`: alive\nid: ${cursor}\n\n`);
}
