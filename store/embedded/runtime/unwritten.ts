/** What is left to be written of these pieces, in their order, when so many of their bytes have been. None of what is left is empty. */
export function unwritten(pieces: readonly Uint8Array[], bytesWritten: number): Uint8Array[] {
  let written = bytesWritten;
  return pieces.flatMap((piece) => {
    const skipped = Math.min(written, piece.byteLength);
    written -= skipped;
    return skipped === piece.byteLength ? [] : [piece.subarray(skipped)];
  });
}
