import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type MachineReadings,
  machineReadings,
  type ProgramHistory,
  startProgramHistory,
} from '../../../src/management/program-history.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 31, 12, 0, 30);

const open: ProgramHistory[] = [];
afterEach(() => {
  for (const history of open.splice(0)) history.stop();
});

/** A history whose clock and machine are turned by hand. */
function handTurned() {
  const log: string[] = [];
  const hand = { at: START_MS, cpuMs: 0, log, volume: () => ({ usedBytes: 1, capacityBytes: 2 }) };
  const readings: MachineReadings = {
    cpuMs: () => hand.cpuMs,
    memoryBytes: () => 7,
    memoryLimitBytes: 100,
    volume: () => hand.volume(),
  };
  const logger = pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line).msg) });
  const history = startProgramHistory(() => hand.at, readings, logger);
  open.push(history);
  return Object.assign(hand, { history });
}

describe('the history of the program', () => {
  test('has the minute under way as its last', () => {
    const hand = handTurned();
    hand.at += 10_000;
    hand.cpuMs += 5_000;
    hand.history.answered(10);
    hand.history.answered(30);
    hand.history.sent(1_000);
    expect(hand.history.view.minutes()).toEqual([
      {
        startMs: START_MS - 30_000,
        cpuPercent: 50,
        memoryBytes: 7,
        requests: 2,
        latencyMs: 20,
        sentBytes: 1_000,
        volumeUsedBytes: 1,
        volumeCapacityBytes: 2,
      },
    ]);
  });

  test('begins a minute anew at the full minute, and knows no latency where nothing was answered', () => {
    const hand = handTurned();
    hand.history.answered(10);
    hand.at += MINUTE_MS;
    expect(hand.history.view.minutes()).toMatchObject([
      { startMs: START_MS - 30_000, requests: 1, latencyMs: 10 },
      { startMs: START_MS + 30_000, requests: 0, latencyMs: null, sentBytes: 0 },
    ]);
  });

  test('keeps seven days', () => {
    const hand = handTurned();
    for (let minute = 0; minute < 8 * 24 * 60; minute += 1) {
      hand.at += MINUTE_MS;
      hand.history.answered(1);
    }
    const minutes = hand.history.view.minutes();
    expect(minutes).toHaveLength(7 * 24 * 60 + 1);
    expect(minutes.at(-1)?.startMs).toBe(hand.at - 30_000);
  });

  test('goes on with the last reading while the volume cannot be read, and says so once', () => {
    const hand = handTurned();
    hand.history.view.minutes();
    const gone = join(tmpdir(), 'no-such-folder', 'data');
    hand.volume = () => machineReadings(gone).volume();
    for (let minute = 0; minute < 2; minute += 1) {
      hand.at += MINUTE_MS;
      // As in the middle of an answer.
      hand.history.answered(10);
    }
    expect(hand.history.view.minutes()).toEqual(Array(3).fill(expect.objectContaining({ volumeUsedBytes: 1, volumeCapacityBytes: 2 })));
    expect(hand.log).toEqual(['the volume of DATA_DIR cannot be read; its history goes on with the last reading']);
    hand.volume = () => ({ usedBytes: 3, capacityBytes: 4 });
    expect(hand.history.view.minutes().at(-1)).toMatchObject({ volumeUsedBytes: 3, volumeCapacityBytes: 4 });
    expect(hand.log.slice(1)).toEqual(['the volume of DATA_DIR can be read again']);
  });

  test('reads this machine', () => {
    const readings = machineReadings('.');
    expect(readings.cpuMs()).toBeGreaterThan(0);
    expect(readings.memoryBytes()).toBeLessThan(readings.memoryLimitBytes);
    const { usedBytes, capacityBytes } = readings.volume();
    expect(usedBytes).toBeGreaterThan(0);
    expect(usedBytes).toBeLessThanOrEqual(capacityBytes);
  });
});
