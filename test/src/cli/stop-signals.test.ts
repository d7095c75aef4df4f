import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { stopSignals } from '../../../src/cli/stop-signals.ts';

function listen() {
  const receiver = new EventEmitter();
  const exits: number[] = [];
  let nowMs = 1000;
  const signals = stopSignals(
    receiver as unknown as NodeJS.Process,
    (status) => exits.push(status),
    () => nowMs,
  );
  return { receiver, signals, exits, pass: (ms: number) => (nowMs += ms) };
}

describe('a signal to stop', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'])('is told once: %s', async (name) => {
    const { receiver, signals, exits } = listen();
    receiver.emit(name, name);
    expect(await signals.received).toBe(name);
    expect(exits).toEqual([]);
  });

  test('that comes again at once is the echo of the same key, passed on by npm and the launcher', () => {
    const { receiver, exits, pass } = listen();
    for (const gap of [0, 1, 300]) {
      pass(gap);
      receiver.emit('SIGINT', 'SIGINT');
    }
    expect(exits).toEqual([]);
  });

  test('that comes again later ends the program at once', () => {
    const { receiver, exits, pass } = listen();
    receiver.emit('SIGINT', 'SIGINT');
    pass(600);
    receiver.emit('SIGTERM', 'SIGTERM');
    expect(exits).toEqual([143]);
  });

  test('is left to Node again after dispose', () => {
    const { receiver, signals } = listen();
    signals.dispose();
    expect(receiver.eventNames()).toEqual([]);
  });
});
