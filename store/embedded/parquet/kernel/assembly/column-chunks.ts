import { beginBits, endBits, hasBit, widthOf, writeBits, writeVarint } from './bits';
import { writeDeltaPacked } from './delta-binary-packed';

export { fittingRows, internValues, locateNumbers, locateTexts } from './column-values';
export { writeDeltaPacked } from './delta-binary-packed';

/**
 * Writes the values of events of a column as pages of Parquet. `order` has the number of each event, four bytes, in the order of the rows.
 * Functions that write return the address after what they wrote.
 */

/** Address of the memory that the kernel does not use itself. */
export function roomAt(): usize {
  return __heap_base;
}

/** Copies the numbers of eight bytes of these events from `values` to `out`. */
export function gatherNumbers(values: usize, order: usize, count: u32, out: usize): void {
  for (let row: u32 = 0; row < count; row++) {
    store<u64>(out + 8 * row, load<u64>(values + 8 * load<u32>(order + 4 * row)));
  }
}

/** Writes numbers that count up from `first`, eight bytes each. */
export function countUp(first: i64, count: u32, out: usize): void {
  for (let row: u32 = 0; row < count; row++) {
    store<i64>(out + 8 * row, first + row);
  }
}

let minNumber: i64 = 0;
let maxNumber: i64 = 0;

/** Finds the minimum and the maximum of at least one number of eight bytes. */
export function findBounds(numbers: usize, count: u32): void {
  minNumber = load<i64>(numbers);
  maxNumber = minNumber;
  for (let row: u32 = 1; row < count; row++) {
    const number = load<i64>(numbers + 8 * row);
    minNumber = min(minNumber, number);
    maxNumber = max(maxNumber, number);
  }
}

/** The bounds that `findBounds` found. */
export function minimum(): i64 {
  return minNumber;
}

export function maximum(): i64 {
  return maxNumber;
}

/** Writes the bits of these events, eight to a byte. */
export function gatherBits(bits: usize, order: usize, count: u32, out: usize): usize {
  beginBits(out);
  for (let row: u32 = 0; row < count; row++) {
    writeBits(hasBit(bits, load<u32>(order + 4 * row)) ? 1 : 0, 1);
  }
  return endBits();
}

/** Copies bits after others: the first becomes bit `first` of `to`. */
export function appendBits(from: usize, count: u32, to: usize, first: u32): void {
  for (let index: u32 = 0; index < count; index++) {
    const at = to + ((first + index) >> 3);
    const bit = <u8>((<u32>hasBit(from, index)) << ((first + index) & 7));
    store<u8>(at, load<u8>(at) | bit);
  }
}

/**
 * Writes which of the rows have a value, as definition levels after their length. A row has one where its entry in `ofEvents`, four bytes,
 * is not 0; the entries of those rows go to `entries`.
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

/** Number of rows that had a value in the last {@link writeLevels}. */
export function presentRows(): u32 {
  return lastPresent;
}

/**
 * Numbers the values of some rows anew. `ids` has their numbers among all values, four bytes each, and gets those among the values here,
 * from 0 on. `numbers` has four bytes for each of all values, all 0 before and after. The old numbers go to `used`. Returns how many there
 * are.
 */
export function renumber(ids: usize, count: u32, numbers: usize, used: usize): u32 {
  let usedCount: u32 = 0;
  for (let row: u32 = 0; row < count; row++) {
    const id = load<u32>(ids + 4 * row);
    let number = load<u32>(numbers + 4 * id);
    if (number === 0) {
      store<u32>(used + 4 * usedCount, id);
      usedCount++;
      number = usedCount;
      store<u32>(numbers + 4 * id, number);
    }
    store<u32>(ids + 4 * row, number - 1);
  }
  for (let number: u32 = 0; number < usedCount; number++) {
    store<u32>(numbers + 4 * load<u32>(used + 4 * number), 0);
  }
  return usedCount;
}

/** Writes numbers of values in a dictionary of so many. */
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

/** Replaces each number by its entry of four bytes in `table`. */
export function resolve(numbers: usize, count: u32, table: usize): void {
  for (let index: u32 = 0; index < count; index++) {
    store<u32>(numbers + 4 * index, load<u32>(table + 4 * load<u32>(numbers + 4 * index)));
  }
}

/** Writes up to seven more bytes past the end. */
function copy(from: usize, bytes: usize, to: usize): void {
  for (let done: usize = 0; done < bytes; done += 8) {
    store<u64>(to + done, load<u64>(from + done));
  }
}

/** Writes the texts at these addresses, each after its length. */
export function writeTexts(addresses: usize, count: u32, out: usize): usize {
  for (let row: u32 = 0; row < count; row++) {
    const address = <usize>load<u32>(addresses + 4 * row);
    const bytes = <usize>(4 + load<u32>(address));
    copy(address, bytes, out);
    out += bytes;
  }
  return out;
}

/** Writes the numbers of `size` bytes at these addresses. */
export function writeNumbers(addresses: usize, count: u32, size: usize, out: usize): usize {
  for (let row: u32 = 0; row < count; row++) {
    copy(<usize>load<u32>(addresses + 4 * row), size, out);
    out += size;
  }
  return out;
}

/** Writes the texts at these addresses: their lengths (DELTA_BINARY_PACKED), then their bytes. `lengths` is room for eight bytes each. */
export function writeDeltaLengthTexts(addresses: usize, count: u32, lengths: usize, out: usize): usize {
  for (let row: u32 = 0; row < count; row++) {
    store<u64>(lengths + 8 * row, <u64>load<u32>(<usize>load<u32>(addresses + 4 * row)));
  }
  out = writeDeltaPacked(lengths, count, out);
  for (let row: u32 = 0; row < count; row++) {
    const address = <usize>load<u32>(addresses + 4 * row);
    const bytes = <usize>load<u32>(address);
    copy(address + 4, bytes, out);
    out += bytes;
  }
  return out;
}
