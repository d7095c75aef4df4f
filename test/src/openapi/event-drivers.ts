import { eventLine, lastHour } from '../running-app.ts';
import type { Call } from './driven-answer.ts';
import {
  answered,
  bodyTooLarge,
  bodyTooLate,
  type Drivers,
  JSON_TYPE,
  ofWrongType,
  unacceptable,
  whileBroken,
  whileCrowded,
  whileStopping,
  withKey,
  withoutKey,
} from './driver.ts';
import { KEY_OF_READERS, KEY_OF_ZONE_8, KEY_WITHOUT_SCOPE } from './sites.ts';

/** All of the last hour. */
export const SEARCH: Call = { method: 'POST', path: '/shield/event-logs/7/search', headers: JSON_TYPE, body: lastHour() };
/** The same, exported. */
export const EXPORT: Call = { ...SEARCH, path: '/shield/event-logs/7/export' };
/** What an explorer asks of the same. */
export const EXPLORE: Call = { ...SEARCH, path: '/shield/event-logs/7/explore' };
const HOUR = JSON.parse(lastHour());
export const ZONES: Call = { method: 'GET', path: `/shield/event-logs/zones?from=${HOUR.from}&to=${HOUR.to}` };
export const RULES: Call = { method: 'GET', path: `/shield/event-logs/7/rules?from=${HOUR.from}&to=${HOUR.to}` };
const EVENTS: Call = { method: 'POST', path: '/ingest/events', headers: { 'content-type': 'application/x-ndjson' }, body: eventLine() };
const LETTERS: Call = { method: 'GET', path: '/ingest/dead-letters' };
const REPLAY: Call = { method: 'POST', path: '/ingest/dead-letters/replay', headers: JSON_TYPE, body: '{}' };

const DISCARD: Call = { ...REPLAY, path: '/ingest/dead-letters/discard', body: '{"all":true}' };
const REWIND: Call = { ...REPLAY, path: '/ingest/kafka/rewind', body: '{"topic":"events","since":1796000400000}' };
const SKIP: Call = { ...REPLAY, path: '/ingest/kafka/skip', body: '{"topic":"events","partition":3,"offset":1204}' };

const ALERTS: Call = { method: 'GET', path: '/alerts' };
const inAnHour = Date.now() + 3_600_000;
const SILENCE: Call = {
  ...REPLAY,
  path: '/alerts/silences',
  body: JSON.stringify({ rule: 'credential-stuffing', to: inAnHour, reason: 'a load test' }),
};
const UNSILENCE: Call = { ...REPLAY, path: '/alerts/silences/remove', body: '{"id":1}' };

/** The search, the explorer, the export, the intake, the dead letters and alerts. */
export const EVENT_DRIVERS: Drivers = {
  exportEventLogs: {
    200: answered(EXPORT),
    400: answered({ ...EXPORT, body: '{"from":0}' }),
    401: withoutKey(EXPORT),
    403: withKey(KEY_OF_ZONE_8)(EXPORT),
    406: unacceptable(EXPORT),
    408: bodyTooLate(EXPORT),
    413: bodyTooLarge(EXPORT),
    415: ofWrongType(EXPORT),
    500: whileBroken(EXPORT),
    503: whileStopping(EXPORT),
  },
  exploreEventLogs: {
    200: answered(EXPLORE),
    400: answered({ ...EXPLORE, body: '{"from":0}' }),
    401: withoutKey(EXPLORE),
    403: withKey(KEY_OF_ZONE_8)(EXPLORE),
    406: unacceptable(EXPLORE),
    408: bodyTooLate(EXPLORE),
    413: bodyTooLarge(EXPLORE),
    415: ofWrongType(EXPLORE),
    429: whileCrowded(EXPLORE),
    500: whileBroken(EXPLORE),
    503: whileStopping(EXPLORE),
  },
  listActiveZones: {
    200: answered(ZONES),
    400: answered({ ...ZONES, path: '/shield/event-logs/zones' }),
    401: withoutKey(ZONES),
    403: withKey(KEY_WITHOUT_SCOPE)(ZONES),
    406: unacceptable(ZONES),
    429: whileCrowded(ZONES),
    500: whileBroken(ZONES),
    503: whileStopping(ZONES),
  },
  listActiveRules: {
    200: answered(RULES),
    400: answered({ ...RULES, path: '/shield/event-logs/7/rules' }),
    401: withoutKey(RULES),
    403: withKey(KEY_OF_ZONE_8)(RULES),
    406: unacceptable(RULES),
    429: whileCrowded(RULES),
    500: whileBroken(RULES),
    503: whileStopping(RULES),
  },
  searchEventLogs: {
    200: answered(SEARCH),
    400: answered({ ...SEARCH, body: '{"from":0}' }),
    401: withoutKey(SEARCH),
    403: withKey(KEY_OF_ZONE_8)(SEARCH),
    406: unacceptable(SEARCH),
    408: bodyTooLate(SEARCH),
    413: bodyTooLarge(SEARCH),
    415: ofWrongType(SEARCH),
    429: whileCrowded(SEARCH),
    500: whileBroken(SEARCH),
    503: whileStopping(SEARCH),
  },
  ingestEvents: {
    202: answered({ ...EVENTS, body: `${eventLine()}not an event\n` }),
    400: answered({ ...EVENTS, path: '/ingest/events?source=nowhere' }),
    401: withoutKey(EVENTS),
    403: withKey(KEY_OF_ZONE_8)(EVENTS),
    406: unacceptable(EVENTS),
    408: bodyTooLate(EVENTS),
    415: ofWrongType(EVENTS),
    500: whileBroken(EVENTS),
    503: whileStopping(EVENTS),
  },
  listDeadLetters: {
    200: answered(LETTERS),
    400: answered({ ...LETTERS, path: '/ingest/dead-letters?limit=0' }),
    401: withoutKey(LETTERS),
    403: withKey(KEY_WITHOUT_SCOPE)(LETTERS),
    500: whileBroken(LETTERS),
    503: whileStopping(LETTERS),
  },
  replayDeadLetters: {
    200: answered(REPLAY),
    400: answered({ ...REPLAY, body: '[' }),
    401: withoutKey(REPLAY),
    403: withKey(KEY_WITHOUT_SCOPE)(REPLAY),
    408: bodyTooLate(REPLAY),
    413: bodyTooLarge(REPLAY),
    415: ofWrongType(REPLAY),
    500: whileBroken(REPLAY),
    503: whileStopping(REPLAY),
  },
  rewindKafkaTopic: {
    200: answered(REWIND),
    400: answered({ ...REWIND, body: '{}' }),
    401: withoutKey(REWIND),
    403: withKey(KEY_OF_ZONE_8)(REWIND),
    408: bodyTooLate(REWIND),
    409: answered({ ...REWIND, body: '{"topic":"others","since":0}' }),
    413: bodyTooLarge(REWIND),
    415: ofWrongType(REWIND),
    500: whileBroken(REWIND),
    503: whileStopping(REWIND),
  },
  skipKafkaBatch: {
    200: answered(SKIP),
    400: answered({ ...SKIP, body: '{}' }),
    401: withoutKey(SKIP),
    403: withKey(KEY_OF_ZONE_8)(SKIP),
    408: bodyTooLate(SKIP),
    409: answered({ ...SKIP, body: '{"topic":"events","partition":3,"offset":1205}' }),
    413: bodyTooLarge(SKIP),
    415: ofWrongType(SKIP),
    500: whileBroken(SKIP),
    503: whileStopping(SKIP),
  },
  listAlerts: {
    200: answered(ALERTS),
    400: answered({ ...ALERTS, path: '/alerts?limit=0' }),
    401: withoutKey(ALERTS),
    403: withKey(KEY_WITHOUT_SCOPE)(ALERTS),
    500: whileBroken(ALERTS),
    503: whileStopping(ALERTS),
  },
  addSilence: {
    200: answered(SILENCE),
    400: answered({ ...SILENCE, body: '{}' }),
    401: withoutKey(SILENCE),
    403: withKey(KEY_OF_READERS)(SILENCE),
    408: bodyTooLate(SILENCE),
    413: bodyTooLarge(SILENCE),
    415: ofWrongType(SILENCE),
    500: whileBroken(SILENCE),
    503: whileStopping(SILENCE),
  },
  removeSilence: {
    200: answered(UNSILENCE),
    400: answered({ ...UNSILENCE, body: '{}' }),
    401: withoutKey(UNSILENCE),
    403: withKey(KEY_OF_READERS)(UNSILENCE),
    408: bodyTooLate(UNSILENCE),
    413: bodyTooLarge(UNSILENCE),
    415: ofWrongType(UNSILENCE),
    500: whileBroken(UNSILENCE),
    503: whileStopping(UNSILENCE),
  },
  discardDeadLetters: {
    200: answered(DISCARD),
    400: answered({ ...DISCARD, body: '{}' }),
    401: withoutKey(DISCARD),
    403: withKey(KEY_WITHOUT_SCOPE)(DISCARD),
    408: bodyTooLate(DISCARD),
    413: bodyTooLarge(DISCARD),
    415: ofWrongType(DISCARD),
    500: whileBroken(DISCARD),
    503: whileStopping(DISCARD),
  },
};
