import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { boundedLog, MOST_WAITING_BYTES } from '../../../src/cli/lost-output.ts';

test('of a log whose reader hangs no more than a mebibyte waits, and the lines that are lost are counted once he reads on', () => {
  const taken: string[] = [];
  let readOn: (() => void) | undefined;
  const output = new Writable({
    write: (line: Buffer, _encoding, done) => {
      taken.push(String(line));
      readOn = done;
    },
  });
  const log = boundedLog(output);
  const line = `{"msg":"${'é'.repeat(506)}x"}\n`;
  const room = MOST_WAITING_BYTES / Buffer.byteLength(line);
  for (let count = 0; count < room + 5; count++) log.write(line);
  expect(output.writableLength).toBe(MOST_WAITING_BYTES);
  while (taken.length < room) readOn?.();
  readOn?.();
  log.write('{"msg":"the last"}\n');
  readOn?.();
  expect(taken.slice(0, room)).toEqual(Array(room).fill(line));
  expect(taken.slice(room).map((one) => JSON.parse(one))).toEqual([
    { level: 40, time: expect.any(Number), lines: 5, msg: 'lines of the log were lost, because more waited for its reader than may' },
    { msg: 'the last' },
  ]);
});

test('a line of a log that is longer than may wait is written where nothing waits', () => {
  const taken: string[] = [];
  const output = new Writable({
    write: (line: Buffer, _encoding, done) => {
      taken.push(String(line));
      done();
    },
  });
  const log = boundedLog(output);
  const line = `{"msg":"${'x'.repeat(MOST_WAITING_BYTES)}"}\n`;
  log.write(line);
  expect(taken).toEqual([line]);
});
