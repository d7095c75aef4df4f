import { beginBits, endBits, widthOf, writeBits, writeVarint } from './bits';

/**
 * Parquet's encoding DELTA_BINARY_PACKED for numbers that lie close together: the difference of each to the one before, in blocks of
 * miniblocks, with as many bits as the largest difference of a miniblock takes.
 */

const BLOCK: u32 = 128;
const MINIBLOCKS: u32 = 4;
const MINIBLOCK: u32 = BLOCK / MINIBLOCKS;

/** The differences of the block under way. */
const deltas: usize = memory.data(8 * 128, 8);

function zigzag(value: i64): u64 {
  return <u64>(value << 1) ^ <u64>(value >> 63);
}

/** Writes numbers of eight bytes each; returns the address after them. */
export function writeDeltaPacked(numbers: usize, count: u32, out: usize): usize {
  out = writeVarint(out, BLOCK);
  out = writeVarint(out, MINIBLOCKS);
  out = writeVarint(out, count);
  let previous = count === 0 ? 0 : load<i64>(numbers);
  out = writeVarint(out, zigzag(previous));
  for (let first: u32 = 1; first < count; first += BLOCK) {
    const inBlock = min(BLOCK, count - first);
    let lowest = i64.MAX_VALUE;
    for (let index: u32 = 0; index < inBlock; index++) {
      const number = load<i64>(numbers + 8 * (first + index));
      const delta = number - previous;
      store<i64>(deltas + 8 * index, delta);
      lowest = min(lowest, delta);
      previous = number;
    }
    out = writeVarint(out, zigzag(lowest));
    out = writeMiniblocks(inBlock, lowest, out);
  }
  return out;
}

function writeMiniblocks(inBlock: u32, lowest: i64, out: usize): usize {
  const widths = out;
  memory.fill(widths, 0, MINIBLOCKS);
  out += MINIBLOCKS;
  for (let first: u32 = 0; first < inBlock; first += MINIBLOCK) {
    const end = min(first + MINIBLOCK, inBlock);
    let all: u64 = 0;
    for (let index = first; index < end; index++) {
      all |= <u64>(load<i64>(deltas + 8 * index) - lowest);
    }
    const width = widthOf(all);
    store<u8>(widths + first / MINIBLOCK, <u8>width);
    beginBits(out);
    for (let index = first; index < first + MINIBLOCK; index++) {
      const more = index < end ? <u64>(load<i64>(deltas + 8 * index) - lowest) : 0;
      if (width > 32) {
        writeBits(more & 0xffff_ffff, 32);
        writeBits(more >> 32, width - 32);
      } else {
        writeBits(more, width);
      }
    }
    out = endBits();
  }
  return out;
}
