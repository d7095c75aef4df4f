// Preloaded into every Node process of the documents' examples (`node --import`): adds to the clock as many milliseconds as a file says.
import { readFileSync } from 'node:fs';
import process from 'node:process';

const file = process.env.MOVED_CLOCK_FILE;
const realNow = Date.now;

globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [new.target.now()] : given));
  }

  static now() {
    return realNow() + Number(readFileSync(file, 'utf8'));
  }
};
