import { hasBit } from './bits';

/** Where the values of a column lie, and which of them are the same. */

/**
 * Writes the addresses of the values of events to `addresses`, four bytes for each event, 0 where it has none. The values are texts back to
 * back, each after its length. `present` has a bit for each event, set where it has a value; 0 stands for values of all of them. Returns
 * the address after the last value, or 0 where one would end after `end`.
 */
export function locateTexts(values: usize, end: usize, present: usize, count: u32, addresses: usize): usize {
  let at = values;
  for (let event: u32 = 0; event < count; event++) {
    let address: usize = 0;
    if (present === 0 || hasBit(present, event)) {
      if (end - at < 4 || end - at - 4 < <usize>load<u32>(at)) {
        return 0;
      }
      address = at;
      at += 4 + load<u32>(at);
    }
    store<u32>(addresses + 4 * event, <u32>address);
  }
  return at;
}

/** The same for numbers of `size` bytes. Returns the address after the last one. */
export function locateNumbers(values: usize, size: usize, present: usize, count: u32, addresses: usize): usize {
  let at = values;
  for (let event: u32 = 0; event < count; event++) {
    let address: usize = 0;
    if (present === 0 || hasBit(present, event)) {
      address = at;
      at += size;
    }
    store<u32>(addresses + 4 * event, <u32>address);
  }
  return at;
}

/** Stands for the size of a text. */
const TEXT: u32 = 0;

const MIX: u64 = ((<u64>0x9e37_79b9) << 32) | 0x7f4a_7c15;

function mixed(hash: u64, word: u64): u64 {
  const product = (hash ^ word) * MIX;
  return product ^ (product >> 32);
}

/** Loads bytes past the end of the text, and masks them out. */
function hashOf(at: usize, length: u32): u64 {
  let hash = <u64>length;
  const end = at + length;
  for (; at + 8 <= end; at += 8) {
    hash = mixed(hash, load<u64>(at));
  }
  const left = (<u64>(end - at)) << 3;
  return left === 0 ? hash : mixed(hash, load<u64>(at) & (((<u64>1) << left) - 1));
}

/** Compares texts of the same length. */
function sameText(left: usize, right: usize, length: u32): bool {
  const end = left + length;
  for (; left + 8 <= end; left += 8, right += 8) {
    if (load<u64>(left) !== load<u64>(right)) {
      return false;
    }
  }
  const bits = (<u64>(end - left)) << 3;
  return bits === 0 || ((load<u64>(left) ^ load<u64>(right)) & (((<u64>1) << bits) - 1)) === 0;
}

function numberAt(address: usize, size: u32): u64 {
  return size === 4 ? <u64>load<u32>(address) : load<u64>(address);
}

function hashOfValue(address: usize, size: u32): u64 {
  return size === TEXT ? hashOf(address + 4, load<u32>(address)) : mixed(0, numberAt(address, size));
}

function sameValue(left: usize, right: usize, size: u32): bool {
  if (size !== TEXT) {
    return numberAt(left, size) === numberAt(right, size);
  }
  const length = load<u32>(left);
  return load<u32>(right) === length && sameText(left + 4, right + 4, length);
}

/**
 * Numbers the distinct values of a column from 1 on, in the order in which they come first. The values are numbers of `size` bytes, four or
 * eight, or texts after their lengths. `ids` gets the number for each event, 0 where it has no value; `dictionary` gets the address of the
 * value for each number. `table` has room for `slots` entries of four bytes, a power of two and more than there are events. Returns the
 * highest number.
 */
export function internValues(addresses: usize, size: u32, count: u32, ids: usize, dictionary: usize, table: usize, slots: u32): u32 {
  memory.fill(table, 0, 4 * slots);
  const mask = slots - 1;
  let highest: u32 = 0;
  for (let event: u32 = 0; event < count; event++) {
    const address = <usize>load<u32>(addresses + 4 * event);
    let id: u32 = 0;
    if (address !== 0) {
      for (let slot = <u32>hashOfValue(address, size) & mask; ; slot = (slot + 1) & mask) {
        id = load<u32>(table + 4 * slot);
        if (id === 0) {
          highest++;
          id = highest;
          store<u32>(table + 4 * slot, id);
          store<u32>(dictionary + 4 * id, <u32>address);
          break;
        }
        if (sameValue(address, <usize>load<u32>(dictionary + 4 * id), size)) {
          break;
        }
      }
    }
    store<u32>(ids + 4 * event, id);
  }
  return highest;
}

/**
 * How many of these events, in their order, have texts of a column with at most so many bytes together, their lengths of four bytes
 * included; at least 1. An entry of an event in
 * `ofEvents` is the address of its text, or where there is a `dictionary` the number of the text in it, and 0 where the event has none.
 */
export function fittingRows(ofEvents: usize, dictionary: usize, order: usize, count: u32, bytes: u32): u32 {
  let taken: u32 = 0;
  for (let row: u32 = 0; row < count; row++) {
    const entry = load<u32>(ofEvents + 4 * load<u32>(order + 4 * row));
    if (entry !== 0) {
      taken += 4 + load<u32>(<usize>(dictionary === 0 ? entry : load<u32>(dictionary + 4 * entry)));
      if (taken > bytes && row > 0) {
        return row;
      }
    }
  }
  return count;
}
