import { beginBits, endBits, widthOf, writeBits, writeVarint } from './bit-writer';
import { hasBit } from './bits';
import { writeDeltaPacked } from './delta-binary-packed';

export { writeDeltaPacked } from './delta-binary-packed';
export { internValues } from './interning';
export { placeNumbers, placeTexts } from './places';

/** Writes the values of some events of a column as pages of Parquet. `order` has the number of each event, four bytes, in the order of the rows. */

/** Where memory begins that the kernel does not use itself. */
export function roomAt(): usize {
  return __heap_base;
}

/** The numbers of eight bytes at `values` of these events go to `out`. */
export function gatherNumbers(values: usize, order: usize, count: u32, out: usize): void {
  for (let row: u32 = 0; row < count; row++) {
    store<u64>(out + 8 * row, load<u64>(values + 8 * load<u32>(order + 4 * row)));
  }
}

/** Numbers that count up from `first`, eight bytes each. */
export function countUp(first: i64, count: u32, out: usize): void {
  for (let row: u32 = 0; row < count; row++) {
    store<i64>(out + 8 * row, first + row);
  }
}

let least: i64 = 0;
let most: i64 = 0;

/** Looks for the least and the most of numbers of eight bytes, of which there is one at least. */
export function findBounds(numbers: usize, count: u32): void {
  least = load<i64>(numbers);
  most = least;
  for (let row: u32 = 1; row < count; row++) {
    const number = load<i64>(numbers + 8 * row);
    least = min(least, number);
    most = max(most, number);
  }
}

/** What `findBounds` found. */
export function leastNumber(): i64 {
  return least;
}

export function mostNumber(): i64 {
  return most;
}

/** Bits of these events, eight to a byte. Returns where they end. */
export function gatherBits(bits: usize, order: usize, count: u32, out: usize): usize {
  beginBits(out);
  for (let row: u32 = 0; row < count; row++) {
    writeBits(hasBit(bits, load<u32>(order + 4 * row)) ? 1 : 0, 1);
  }
  return endBits();
}

/** Copies bits behind others. */
export function appendBits(from: usize, count: u32, to: usize, first: u32): void {
  for (let place: u32 = 0; place < count; place++) {
    const at = to + ((first + place) >> 3);
    const bit = <u8>((<u32>hasBit(from, place)) << ((first + place) & 7));
    store<u8>(at, load<u8>(at) | bit);
  }
}

/**
 * Which of the rows have a value: those whose entry of four bytes (a place, or a number of a value) is not 0. Definition levels behind their length. Returns where they end. The entries of the rows that have a value go
 * to `entries`.
 */
export function writeLevels(ofEvents: usize, order: usize, count: u32, entries: usize, out: usize): usize {
  const run = out + 4;
  let present: u32 = 0;
  let at = writeVarint(run, (((<u64>count + 7) >> 3) << 1) | 1);
  for (let first: u32 = 0; first < count; first += 8) {
    let bits: u32 = 0;
    const end = min(first + 8, count);
    for (let row = first; row < end; row++) {
      const entry = load<u32>(ofEvents + 4 * load<u32>(order + 4 * row));
      const has = <u32>(entry !== 0);
      store<u32>(entries + 4 * present, entry);
      present += has;
      bits |= has << (row - first);
    }
    store<u8>(at, <u8>bits);
    at++;
  }
  if (present === 0 || present === count) {
    at = writeVarint(run, (<u64>count) << 1);
    store<u8>(at, present === 0 ? 0 : 1);
    at++;
  }
  store<u32>(out, <u32>(at - run));
  lastPresent = present;
  return at;
}

let lastPresent: u32 = 0;

/** How many rows had a value. */
export function presentRows(): u32 {
  return lastPresent;
}

/**
 * Numbers the values of some rows anew: `ids` has numbers among all values, four bytes each, and gets those among the values here, from 0 on. `numbers` has four bytes for each of all values, all of them 0 before
 * and after. The old numbers go to `used`. Returns how many there are.
 */
export function renumber(ids: usize, count: u32, numbers: usize, used: usize): u32 {
  let known: u32 = 0;
  for (let row: u32 = 0; row < count; row++) {
    const id = load<u32>(ids + 4 * row);
    let number = load<u32>(numbers + 4 * id);
    if (number === 0) {
      store<u32>(used + 4 * known, id);
      known++;
      number = known;
      store<u32>(numbers + 4 * id, number);
    }
    store<u32>(ids + 4 * row, number - 1);
  }
  for (let number: u32 = 0; number < known; number++) {
    store<u32>(numbers + 4 * load<u32>(used + 4 * number), 0);
  }
  return known;
}

/** The numbers of values in a dictionary of so many. Returns where they end. */
export function writeIndices(numbers: usize, count: u32, dictionarySize: u32, out: usize): usize {
  const width = max<u32>(1, widthOf(dictionarySize - 1));
  store<u8>(out, <u8>width);
  out++;
  if (dictionarySize === 1) {
    out = writeVarint(out, (<u64>count) << 1);
    store<u8>(out, 0);
    return out + 1;
  }
  const groups = (count + 7) >> 3;
  out = writeVarint(out, ((<u64>groups) << 1) | 1);
  beginBits(out);
  for (let row: u32 = 0; row < groups << 3; row++) {
    writeBits(row < count ? load<u32>(numbers + 4 * row) : 0, width);
  }
  return endBits();
}

/** In the place of each number what it stands for among the entries of four bytes at `table`. */
export function resolve(numbers: usize, count: u32, table: usize): void {
  for (let place: u32 = 0; place < count; place++) {
    store<u32>(numbers + 4 * place, load<u32>(table + 4 * load<u32>(numbers + 4 * place)));
  }
}

/** Past its end up to seven more bytes are written. */
function copy(from: usize, bytes: usize, to: usize): void {
  for (let done: usize = 0; done < bytes; done += 8) {
    store<u64>(to + done, load<u64>(from + done));
  }
}

/** The texts at these places, each behind its length. Returns where they end. */
export function writeTexts(places: usize, count: u32, out: usize): usize {
  for (let row: u32 = 0; row < count; row++) {
    const place = <usize>load<u32>(places + 4 * row);
    const bytes = <usize>(4 + load<u32>(place));
    copy(place, bytes, out);
    out += bytes;
  }
  return out;
}

/** The numbers of `size` bytes at these places. Returns where they end. */
export function writeNumbers(places: usize, count: u32, size: usize, out: usize): usize {
  for (let row: u32 = 0; row < count; row++) {
    copy(<usize>load<u32>(places + 4 * row), size, out);
    out += size;
  }
  return out;
}

/** The texts at these places: their lengths (DELTA_BINARY_PACKED), then their bytes. `lengths` is room for eight bytes each. Returns where they end. */
export function writeDeltaLengthTexts(places: usize, count: u32, lengths: usize, out: usize): usize {
  for (let row: u32 = 0; row < count; row++) {
    store<u64>(lengths + 8 * row, <u64>load<u32>(<usize>load<u32>(places + 4 * row)));
  }
  out = writeDeltaPacked(lengths, count, out);
  for (let row: u32 = 0; row < count; row++) {
    const place = <usize>load<u32>(places + 4 * row);
    const bytes = <usize>load<u32>(place);
    copy(place + 4, bytes, out);
    out += bytes;
  }
  return out;
}
