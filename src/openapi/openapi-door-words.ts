import { DOOR_BODY_BYTES } from '../http/request-body.ts';
import { shownBytes } from './openapi-elements.ts';

/** What is said of every door of other products' shippers. */
export const DOORS_TAG = 'Doors';
export const DOOR_BODY = `Content-Encoding may be gzip or zstd. At most ${shownBytes(DOOR_BODY_BYTES)}, decompressed.`;
export const DOOR_KEY = 'A key may also come as Authorization, of the scheme Splunk, Bearer or Basic.';
export const DOOR_MAPPING =
  'Records of another product become events by ?mapping= and &zone=, as at /ingest/events; other parameters are passed over.';

/** An event of our own form, in examples. */
export const SHOWN_EVENT = '{"shieldZoneId":7,"timestamp":1767228000123,"action":"blocked"}';
