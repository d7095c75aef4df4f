import { fstatSync } from 'node:fs';
import process from 'node:process';
import { Readable } from 'node:stream';

const DESCRIPTOR = 0;

/** The bytes of standard input. Reading fails where that is a folder, which Node takes for an empty file. */
export function standardInput(): AsyncIterable<Uint8Array> {
  return isFolder(DESCRIPTOR) ? failing('it is a folder; allowed: a file, a pipe or a terminal') : process.stdin;
}

/** False for a descriptor that is closed, too. */
function isFolder(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isDirectory();
  } catch {
    return false;
  }
}

function failing(message: string): Readable {
  return new Readable({
    read() {
      this.destroy(new Error(message));
    },
  });
}
