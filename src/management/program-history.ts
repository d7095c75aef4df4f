import { statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { ProgramMinute, ProgramView } from '../../edge/local/local-resource.ts';
import { MINUTE_MS } from '../../query/durations.ts';

/** Seven days. */
const MINUTES_KEPT = 7 * 24 * 60;

interface VolumeReading {
  readonly usedBytes: number;
  readonly capacityBytes: number;
}

export interface MachineReadings {
  /** Processor time of the process since it began, in ms. */
  cpuMs(): number;
  memoryBytes(): number;
  readonly memoryLimitBytes: number;
  /** Reads the file system of DATA_DIR. Throws where that is not possible. */
  volume(): VolumeReading;
}

/** Readings of this process and this machine. */
export function machineReadings(dataDir: string): MachineReadings {
  return {
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    memoryBytes: () => process.memoryUsage.rss(),
    // A container may have less than the machine. 0 and huge numbers stand for no limit.
    memoryLimitBytes: Math.min(process.constrainedMemory() || totalmem(), totalmem()),
    volume: () => {
      const { bsize, blocks, bfree } = statfsSync(dataDir);
      return { usedBytes: (blocks - bfree) * bsize, capacityBytes: blocks * bsize };
    },
  };
}

/** The program's load minute by minute, since its start and for seven days at most. */
export interface ProgramHistory {
  readonly view: ProgramView;
  /** An answer has begun. */
  answered(latencyMs: number): void;
  sent(bytes: number): void;
  stop(): void;
}

interface OpenMinute {
  readonly startMs: number;
  readonly beganMs: number;
  readonly cpuMs: number;
  requests: number;
  latencySumMs: number;
  sentBytes: number;
}

/** Returns the last reading where the volume cannot be read now, which is logged when it begins and ends. 0 until the first reading. */
function steadyVolume(read: () => VolumeReading, logger: Pick<FastifyBaseLogger, 'info' | 'warn'>): () => VolumeReading {
  let last: VolumeReading = { usedBytes: 0, capacityBytes: 0 };
  let isFailing = false;
  return () => {
    try {
      last = read();
      if (isFailing) logger.info({}, 'the volume of DATA_DIR can be read again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) logger.warn({ err: error }, 'the volume of DATA_DIR cannot be read; its history goes on with the last reading');
      isFailing = true;
    }
    return last;
  };
}

export function startProgramHistory(
  now: () => number,
  readings: MachineReadings,
  logger: Pick<FastifyBaseLogger, 'info' | 'warn'>,
): ProgramHistory {
  const volume = steadyVolume(readings.volume, logger);
  const finished: ProgramMinute[] = [];
  const startedAtMs = now();
  const begin = (): OpenMinute => {
    const beganMs = now();
    const startMs = Math.floor(beganMs / MINUTE_MS) * MINUTE_MS;
    return { startMs, beganMs, cpuMs: readings.cpuMs(), requests: 0, latencySumMs: 0, sentBytes: 0 };
  };
  let open = begin();

  function close(): ProgramMinute {
    const { startMs, beganMs, cpuMs, requests, latencySumMs, sentBytes } = open;
    const { usedBytes, capacityBytes } = volume();
    return {
      startMs,
      cpuPercent: (100 * (readings.cpuMs() - cpuMs)) / Math.max(now() - beganMs, 1),
      memoryBytes: readings.memoryBytes(),
      requests,
      latencyMs: requests === 0 ? null : latencySumMs / requests,
      sentBytes,
      volumeUsedBytes: usedBytes,
      volumeCapacityBytes: capacityBytes,
    };
  }

  /** Ends the current minute once it is over. */
  function roll(): void {
    if (Math.floor(now() / MINUTE_MS) * MINUTE_MS === open.startMs) return;
    finished.push(close());
    if (finished.length > MINUTES_KEPT) finished.shift();
    open = begin();
  }

  const timer = setInterval(roll, MINUTE_MS / 4).unref();
  return {
    view: {
      startedAtMs,
      memoryLimitBytes: readings.memoryLimitBytes,
      minutes: () => {
        roll();
        return [...finished, close()];
      },
    },
    answered(latencyMs) {
      roll();
      open.requests += 1;
      open.latencySumMs += latencyMs;
    },
    sent(bytes) {
      roll();
      open.sentBytes += bytes;
    },
    stop: () => clearInterval(timer),
  };
}

/** Records every answer of the app. Register before any route. */
export const requestHistory = fastifyPlugin(async (app: FastifyInstance, { history }: { readonly history: ProgramHistory }) => {
  const writtenBefore = new WeakMap<object, number>();
  app.addHook('onRequest', async ({ raw }) => {
    writtenBefore.set(raw, raw.socket.bytesWritten);
  });
  app.addHook('onSend', async (_request, reply) => {
    // The time until the answer begins: how long a client reads says nothing about the program.
    history.answered(reply.elapsedTime);
  });
  app.addHook('onResponse', async ({ raw }) => {
    history.sent(Math.max(raw.socket.bytesWritten - (writtenBefore.get(raw) ?? 0), 0));
  });
});
