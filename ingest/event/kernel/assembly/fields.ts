import { ACTION, ASN, COUNTRY, FEATURE, ID_TEXT, IP, JA4, RULE_ID, RULE_NAME, TIMESTAMP, UA, URL_HEAD, ZONE_ID } from './columns';

/** The members of an event that have a meaning, by their columns; of several the one that is written first. */
export const LOG_ID: u32 = ID_TEXT;
export const URL: u32 = URL_HEAD;
export const LOG: u32 = 17;
export const NO_FIELD: u32 = 18;

/** Bits for the texts that are written as they are meant, for those among them that have no rules of their own, and for all fields that have a column, but for the id. */
export const TEXTS: u32 =
  (1 << FEATURE) | (1 << RULE_ID) | (1 << RULE_NAME) | (1 << IP) | (1 << JA4) | (1 << UA) | (1 << ASN) | (1 << COUNTRY) | (1 << ACTION);
export const FREE_TEXTS: u32 = (TEXTS | (1 << URL)) & ~((1 << IP) | (1 << ASN));
export const FIELDS_WITH_COLUMN: u32 = TEXTS | (1 << URL) | (1 << ZONE_ID) | (1 << TIMESTAMP);

/** A name in 16 bytes, its length, its field. */
const SLOT_BYTES: usize = 32;
const LENGTH_AT: usize = 16;
const FIELD_AT: usize = 20;

/** By their length and last byte the names fall into different ones of 32 slots. */
const SLOTS: usize = memory.data(32 * 32, 16);

enter('logId', LOG_ID);
enter('shieldZoneId', ZONE_ID);
enter('timestamp', TIMESTAMP);
enter('log', LOG);
enter('feature', FEATURE);
enter('ruleId', RULE_ID);
enter('ruleName', RULE_NAME);
enter('ip', IP);
enter('ja4', JA4);
enter('ua', UA);
enter('url', URL);
enter('asn', ASN);
enter('country', COUNTRY);
enter('action', ACTION);

function slotOf(length: usize, lastByte: u32): usize {
  return SLOTS + ((length * 18 + lastByte) & 31) * SLOT_BYTES;
}

function enter(name: string, field: u32): void {
  const slot = slotOf(name.length, name.charCodeAt(name.length - 1));
  for (let index = 0; index < name.length; index++) {
    store<u8>(slot + index, <u8>name.charCodeAt(index));
  }
  store<usize>(slot, name.length, LENGTH_AT);
  store<u32>(slot, field, FIELD_AT);
}

/** The field whose name is the `length` bytes from `at` on, behind a quote; `NO_FIELD` where it is none. */
export function fieldAt(at: usize, length: usize): u32 {
  const slot = slotOf(length, load<u8>(at + length - 1));
  if (load<usize>(slot, LENGTH_AT) !== length) {
    return NO_FIELD;
  }
  const differing = ~i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(slot)));
  return ctz(differing) < <i32>length ? NO_FIELD : load<u32>(slot, FIELD_AT);
}
