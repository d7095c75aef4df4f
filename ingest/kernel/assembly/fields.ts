/** The members of an event that have a meaning. Those up to `URL` are texts without rules of their own. */
export const FEATURE: u32 = 0;
export const RULE_ID: u32 = 1;
export const RULE_NAME: u32 = 2;
export const JA4: u32 = 3;
export const UA: u32 = 4;
export const COUNTRY: u32 = 5;
export const ACTION: u32 = 6;
export const URL: u32 = 7;
export const LOG_ID: u32 = 8;
export const ZONE_ID: u32 = 9;
export const TIMESTAMP: u32 = 10;
export const IP: u32 = 11;
export const ASN: u32 = 12;
export const LOG: u32 = 13;
export const NO_FIELD: u32 = 14;

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
