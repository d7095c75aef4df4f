import { beginBits, endBits, widthOf, writeBits, writeVarint } from './bit-writer';

/** The format's encoding of numbers that lie close together: what each is more than the one before, in blocks, with as many bits as the largest of a miniblock takes. */

const BLOCK: u32 = 128;
const MINIBLOCKS: u32 = 4;
const MINIBLOCK: u32 = BLOCK / MINIBLOCKS;

/** Of a block under way. */
const deltas: usize = memory.data(8 * 128, 8);

function zigzag(value: i64): u64 {
  return <u64>(value << 1) ^ <u64>(value >> 63);
}

/** Of numbers of eight bytes each; returns where they end. */
export function writeDeltaPacked(numbers: usize, count: u32, out: usize): usize {
  out = writeVarint(out, BLOCK);
  out = writeVarint(out, MINIBLOCKS);
  out = writeVarint(out, count);
  let previous = count === 0 ? 0 : load<i64>(numbers);
  out = writeVarint(out, zigzag(previous));
  for (let first: u32 = 1; first < count; first += BLOCK) {
    const inBlock = min(BLOCK, count - first);
    let least = i64.MAX_VALUE;
    for (let place: u32 = 0; place < inBlock; place++) {
      const number = load<i64>(numbers + 8 * (first + place));
      const delta = number - previous;
      store<i64>(deltas + 8 * place, delta);
      least = min(least, delta);
      previous = number;
    }
    out = writeVarint(out, zigzag(least));
    out = writeMiniblocks(inBlock, least, out);
  }
  return out;
}

function writeMiniblocks(inBlock: u32, least: i64, out: usize): usize {
  const widths = out;
  memory.fill(widths, 0, MINIBLOCKS);
  out += MINIBLOCKS;
  for (let first: u32 = 0; first < inBlock; first += MINIBLOCK) {
    const end = min(first + MINIBLOCK, inBlock);
    let all: u64 = 0;
    for (let place = first; place < end; place++) {
      all |= <u64>(load<i64>(deltas + 8 * place) - least);
    }
    const width = widthOf(all);
    store<u8>(widths + first / MINIBLOCK, <u8>width);
    beginBits(out);
    for (let place = first; place < first + MINIBLOCK; place++) {
      const more = place < end ? <u64>(load<i64>(deltas + 8 * place) - least) : 0;
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
