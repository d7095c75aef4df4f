const NEWLINE = 0x0a;

/** The lines of newline-terminated text, without their newlines. */
export function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let begin = 0; begin < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, begin);
    const stop = end < 0 ? bytes.length : end;
    yield bytes.subarray(begin, stop);
    begin = stop + 1;
  }
}

/** Cuts newline-terminated text at line ends into pieces of at most `limitBytes`; a longer line is a piece by itself. */
export function* lineChunks(bytes: Buffer, limitBytes: number): Generator<Buffer> {
  for (let begin = 0; begin < bytes.length; ) {
    let end = bytes.length;
    if (end - begin > limitBytes) {
      const within = bytes.lastIndexOf(NEWLINE, begin + limitBytes - 1);
      const past = within >= begin ? within : bytes.indexOf(NEWLINE, begin);
      end = past < 0 ? bytes.length : past + 1;
    }
    yield bytes.subarray(begin, end);
    begin = end;
  }
}
