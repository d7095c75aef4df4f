/** What stands for the size of a text. */
const TEXT: u32 = 0;

const MIX: u64 = ((<u64>0x9e37_79b9) << 32) | 0x7f4a_7c15;

function mixed(hash: u64, word: u64): u64 {
  const product = (hash ^ word) * MIX;
  return product ^ (product >> 32);
}

/** Bytes are loaded past the end of a text, never looked at. */
function hashOf(at: usize, length: u32): u64 {
  let hash = <u64>length;
  const end = at + length;
  for (; at + 8 <= end; at += 8) {
    hash = mixed(hash, load<u64>(at));
  }
  const left = (<u64>(end - at)) << 3;
  return left === 0 ? hash : mixed(hash, load<u64>(at) & (((<u64>1) << left) - 1));
}

/** The texts have lengths that are the same. */
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

function numberAt(place: usize, size: u32): u64 {
  return size === 4 ? <u64>load<u32>(place) : load<u64>(place);
}

function hashOfValue(place: usize, size: u32): u64 {
  return size === TEXT ? hashOf(place + 4, load<u32>(place)) : mixed(0, numberAt(place, size));
}

function sameValue(left: usize, right: usize, size: u32): bool {
  if (size !== TEXT) {
    return numberAt(left, size) === numberAt(right, size);
  }
  const length = load<u32>(left);
  return load<u32>(right) === length && sameText(left + 4, right + 4, length);
}

/**
 * Numbers the different values of a column, from 1 on in the order in which they come first. They are numbers of `size` bytes, four or eight, or texts behind their lengths. For each event its number goes to `ids`,
 * 0 where it has no value; for each number the place of the value goes to `dictionary`. `table` has room for `slots` entries of four bytes, a power of two and more than there are events. Returns how many there are.
 */
export function internValues(places: usize, size: u32, count: u32, ids: usize, dictionary: usize, table: usize, slots: u32): u32 {
  memory.fill(table, 0, 4 * slots);
  const mask = slots - 1;
  let known: u32 = 0;
  for (let event: u32 = 0; event < count; event++) {
    const place = <usize>load<u32>(places + 4 * event);
    let id: u32 = 0;
    if (place !== 0) {
      for (let slot = <u32>hashOfValue(place, size) & mask; ; slot = (slot + 1) & mask) {
        id = load<u32>(table + 4 * slot);
        if (id === 0) {
          known++;
          id = known;
          store<u32>(table + 4 * slot, id);
          store<u32>(dictionary + 4 * id, <u32>place);
          break;
        }
        if (sameValue(place, <usize>load<u32>(dictionary + 4 * id), size)) {
          break;
        }
      }
    }
    store<u32>(ids + 4 * event, id);
  }
  return known;
}
