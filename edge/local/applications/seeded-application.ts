import type { ProgramMinute } from '../program-view.ts';
import type { Application } from './application.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

/** A number in [0, 1) that belongs to this minute and `salt`: the same whenever it is asked for. */
function noise(minute: number, salt: number): number {
  let bits = Math.imul(minute ^ Math.imul(salt, 0x9e37_79b9), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

function minuteAt(startMs: number): ProgramMinute {
  const minute = startMs / MINUTE_MS;
  // Busiest in the afternoon, UTC.
  const busy = 0.5 + 0.5 * Math.sin(((startMs % DAY_MS) / DAY_MS) * 2 * Math.PI - Math.PI / 2);
  const requests = Math.round(200 + 1_800 * busy + 200 * noise(minute, 1));
  return {
    startMs,
    cpuPercent: 10 + 55 * busy + 10 * noise(minute, 2),
    memoryBytes: Math.round((220 + 120 * busy + 30 * noise(minute, 3)) * MIB),
    requests,
    latencyMs: 18 + 30 * busy + 8 * noise(minute, 4),
    sentBytes: requests * Math.round(9_000 + 4_000 * noise(minute, 5)),
    volumeUsedBytes: Math.round((3_000 + 20 * noise(minute, 6)) * MIB),
    volumeCapacityBytes: 10_240 * MIB,
  };
}

/** A made-up application, so that there is a second one to look at. Its samples are computed, not measured. */
export const seededApplication: Application = {
  id: 'demo-shop',
  region: 'DE',
  image: 'registry.example/demo-shop:1.4.2',
  imageDisplay: 'demo-shop:1.4.2',
  targetLatencyMs: 50,
  monthlyCost: 12.5,
  memoryLimitBytes: 512 * MIB,
  minutes(fromMs, toMs) {
    const minutes: ProgramMinute[] = [];
    for (let at = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS; at < toMs; at += MINUTE_MS) minutes.push(minuteAt(at));
    return minutes;
  },
};
