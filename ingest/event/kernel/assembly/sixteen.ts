/** Sixteen of one byte in memory. They are loaded, because V8 (13.6) makes a constant anew at every use. */
export function sixteen(byte: i8): usize {
  const at = heap.alloc(16);
  v128.store(at, i8x16.splat(byte));
  return at;
}
