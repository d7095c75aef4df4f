import { DOOR_BODY_BYTES } from '../http/request-body.ts';
import { shownBytes } from './openapi-elements.ts';
import { DEFECT, STATUS_HEADERS } from './openapi-problems.ts';

/** What is said of every door of other products' shippers. */
export const DOORS_TAG = 'Doors';
export const DOOR_BODY = `Content-Encoding may be gzip or zstd. At most ${shownBytes(DOOR_BODY_BYTES)}, decompressed.`;
export const DOOR_KEY = 'A key may also come as Authorization, of the scheme Splunk, Bearer or Basic.';
export const DOOR_MAPPING =
  'Records of another product become events by ?mapping= and &zone=, as at /ingest/events; other parameters are passed over.';

/** An event of our own form, in examples. */
export const SHOWN_EVENT = '{"shieldZoneId":7,"timestamp":1767228000123,"action":"blocked"}';

/** What is said of the errors of a door by their status, with what an example says is wrong. */
const ERRORS: Readonly<Record<number, readonly [description: string, message: string]>> = {
  400: ['Nothing is stored, or all records are dead letters', 'timestamp is missing'],
  401: ['A key is needed', 'The AccessKey header is missing'],
  403: ['The key does not open this', 'The access key does not have the scope "ingest"'],
  408: ['The body did not arrive in time', 'the request body did not arrive whole'],
  413: ['The body is too large', `at most ${DOOR_BODY_BYTES} bytes are allowed`],
  415: ['The type or the compression is not supported', 'Content-Type: text/csv is not supported'],
  503: ['There is no room, no disk, or the program is stopping', 'The store is behind'],
};

/** The answers of a door that are no success; `answerOf` makes each as its protocol has it, under the status that it has for the store. */
export function doorErrors(answerOf: (status: number, description: string, message: string) => object, busyStatus = 503) {
  const errors = Object.entries(ERRORS).map(([text, words]) => {
    const status = text === '503' ? busyStatus : Number(text);
    return [status, { ...answerOf(status, ...words), ...STATUS_HEADERS[status] }] as const;
  });
  return { ...Object.fromEntries(errors), ...DEFECT };
}
