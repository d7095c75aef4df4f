import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { FeedEvent } from '../../store/event-store.ts';
import { isPlain, onOneLine, type Quote, quoteJson } from './json-text.ts';

/** `,"name":` of each field, and the same inside a JSON string. */
const KEYS = TEXT_FIELDS.map((name) => [name, `,"${name}":`, `,\\"${name}\\":\\"`] as const);

/**
 * The event as it goes over the wire: what `shieldlog ingest` takes, and what stands in the other formats as the original. The log is copied as
 * it is stored, so that no digit of a number in it is lost.
 */
export function writeNative({ logId, zoneId, timestamp, fields, logJson }: FeedEvent): string {
  let line = `{"logId":${quoteJson(logId)},"shieldZoneId":${zoneId},"timestamp":${timestamp}`;
  for (const [name, key] of KEYS) {
    const text = fields[name];
    if (text !== undefined) {
      line += key + quoteJson(text);
    }
  }
  return `${line},"log":${onOneLine(logJson)}}`;
}

/** The same as a JSON string. `quote` is the one that suits the event: where nothing but the log has quotes, nothing but the log is looked at. */
export function quotedNative(event: FeedEvent, quote: Quote): string {
  if (!isPlain(quote)) {
    return JSON.stringify(writeNative(event));
  }
  const { logId, zoneId, timestamp, fields, logJson } = event;
  let line = `"{\\"logId\\":\\"${logId}\\",\\"shieldZoneId\\":${zoneId},\\"timestamp\\":${timestamp}`;
  for (const [name, , key] of KEYS) {
    const text = fields[name];
    if (text !== undefined) {
      line += `${key}${text}\\"`;
    }
  }
  return `${line},\\"log\\":${JSON.stringify(onOneLine(logJson)).slice(1, -1)}}"`;
}
