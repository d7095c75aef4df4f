import { otlpJson, textRecord } from '../../fixtures/otlp-requests.ts';
import { eventLine } from '../running-app.ts';
import type { Call } from './driven-answer.ts';
import {
  answered,
  bodyTooLarge,
  bodyTooLate,
  type Driver,
  type Drivers,
  fromForeignPage,
  JSON_TYPE,
  ofWrongEncoding,
  ofWrongType,
  whileBroken,
  whileStopping,
  withKey,
  withoutKey,
} from './driver.ts';
import { KEY_WITHOUT_SCOPE } from './sites.ts';

const TEXT_TYPE = { 'content-type': 'text/plain' };
const EVENTS = (): string => `{"event":${eventLine()}}`;

/** Every status of a route with a body; `wrong` is one that is refused. */
function hec(path: string, body: string, wrong: string): Readonly<Record<number, Driver>> {
  const call: Call = { method: 'POST', path: `/services/collector${path}`, headers: TEXT_TYPE, body };
  return {
    200: answered(call),
    400: answered({ ...call, body: wrong }),
    401: withoutKey(call),
    403: withKey(KEY_WITHOUT_SCOPE)(call),
    408: bodyTooLate(call),
    413: bodyTooLarge(call),
    415: ofWrongEncoding(call),
    503: whileStopping(call),
  };
}

/** The same of one that takes records in. */
function hecRecords(path: string, body: string, wrong: string): Readonly<Record<number, Driver>> {
  return { ...hec(path, body, wrong), 500: whileBroken({ method: 'POST', path: `/services/collector${path}`, headers: TEXT_TYPE, body }) };
}

const FIREHOSE: Call = {
  method: 'POST',
  path: '/ingest/firehose',
  headers: JSON_TYPE,
  body: JSON.stringify({ requestId: 'r', timestamp: 0, records: [{ data: Buffer.from(eventLine()).toString('base64') }] }),
};

const OTLP: Call = { method: 'POST', path: '/v1/logs', headers: JSON_TYPE, body: otlpJson([textRecord(eventLine())]).toString() };

function bulk(method: string, path: string): Readonly<Record<number, Driver>> {
  const headers = { 'content-type': 'application/x-ndjson' };
  const call: Call = { method, path, headers, body: `{"index":{}}\n${eventLine()}` };
  return {
    200: answered(call),
    400: answered({ ...call, body: '{"index":{}}' }),
    401: withoutKey(call),
    403: withKey(KEY_WITHOUT_SCOPE)(call),
    408: bodyTooLate(call),
    413: bodyTooLarge(call),
    415: ofWrongType(call),
    429: whileStopping(call),
    500: whileBroken(call),
  };
}

const LICENSE: Call = { method: 'GET', path: '/_license' };

const BULK_HEALTH: Call = { method: 'GET', path: '/_cat/health' };

const HEALTH: Call = { method: 'GET', path: '/services/collector/health' };

/** The doors of other products' shippers. */
export const DOOR_DRIVERS: Drivers = {
  sendToCollector: hecRecords('', EVENTS(), '{'),
  sendEventsToCollector: hecRecords('/event', EVENTS(), '{'),
  sendEventsToCollector10: hecRecords('/event/1.0', EVENTS(), '{'),
  sendLinesToCollector: hecRecords('/raw', eventLine(), 'x'),
  sendLinesToCollector10: hecRecords('/raw/1.0', eventLine(), 'x'),
  askCollector: hec('/ack?channel=x', '{"acks":[1]}', '{'),
  bulk: bulk('POST', '/_bulk'),
  bulkByPut: bulk('PUT', '/_bulk'),
  bulkOfIndex: bulk('POST', '/logs/_bulk'),
  bulkOfIndexByPut: bulk('PUT', '/logs/_bulk'),
  getBulkLicense: { 200: answered(LICENSE), 403: fromForeignPage(LICENSE), 429: whileStopping(LICENSE) },
  getBulkHealth: { 200: answered(BULK_HEALTH), 403: fromForeignPage(BULK_HEALTH), 429: whileStopping(BULK_HEALTH) },
  sendOtlpLogs: {
    200: answered(OTLP),
    400: answered({ ...OTLP, body: '{' }),
    401: withoutKey(OTLP),
    403: withKey(KEY_WITHOUT_SCOPE)(OTLP),
    408: bodyTooLate(OTLP),
    413: bodyTooLarge(OTLP),
    415: ofWrongType(OTLP),
    500: whileBroken(OTLP),
    503: whileStopping(OTLP),
  },
  sendFromFirehose: {
    200: answered(FIREHOSE),
    400: answered({ ...FIREHOSE, body: '{' }),
    401: withoutKey(FIREHOSE),
    403: withKey(KEY_WITHOUT_SCOPE)(FIREHOSE),
    408: bodyTooLate(FIREHOSE),
    413: bodyTooLarge(FIREHOSE),
    415: ofWrongType(FIREHOSE),
    500: whileBroken(FIREHOSE),
    503: whileStopping(FIREHOSE),
  },
  getCollectorHealth: { 200: answered(HEALTH), 403: fromForeignPage(HEALTH), 503: whileStopping(HEALTH) },
};
