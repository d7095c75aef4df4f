// Preloaded into every Node process of the README's examples (`node --import`): the clock is moved by as many milliseconds as a file says
// at the time.
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
