import { TEXT_FIELDS } from '../../query/event-fields.ts';
import type { FeedEvent } from '../../store/event-store.ts';
import { onOneLine, quoteJson } from './json-text.ts';

/**
 * The event as it goes over the wire: what `shieldlog ingest` takes, and what stands in the other formats as the original. The log is copied as
 * it is stored, so that no digit of a number in it is lost.
 */
export function writeNative(event: FeedEvent): string {
  const { logId, zoneId, timestamp, fields, logJson } = event;
  let line = `{"logId":${quoteJson(logId)},"shieldZoneId":${zoneId},"timestamp":${timestamp}`;
  for (const name of TEXT_FIELDS) {
    const text = fields[name];
    if (text !== undefined) {
      line += `,"${name}":${quoteJson(text)}`;
    }
  }
  return `${line},"log":${onOneLine(logJson)}}`;
}
