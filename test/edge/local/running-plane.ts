import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../../../edge/local/control-plane.ts';
import type { ProgramMinute, ProgramView } from '../../../edge/local/local-resource.ts';

export const NOW_MS = Date.UTC(2026, 0, 31, 12, 30, 20);

export function minute(startMs: number, rest: Partial<ProgramMinute> = {}): ProgramMinute {
  const zeros = { cpuPercent: 0, memoryBytes: 0, requests: 0, latencyMs: null, sentBytes: 0, volumeUsedBytes: 0, volumeCapacityBytes: 0 };
  return { startMs, ...zeros, ...rest };
}

export function programOf(minutes: readonly ProgramMinute[]): ProgramView {
  return { startedAtMs: NOW_MS, memoryLimitBytes: 1_000, minutes: () => minutes };
}

export interface RunningPlane extends AsyncDisposable {
  readonly plane: ControlPlane;
  readonly dataDir: string;
  readonly errors: readonly object[];
}

/** A real control plane in a folder of its own, which is removed at the end unless it was given. */
export async function startPlane(options: Pick<ControlPlaneOptions, 'resources'> & Partial<ControlPlaneOptions>): Promise<RunningPlane> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'shieldlog-plane-'));
  const errors: object[] = [];
  const plane = await startControlPlane({
    now: () => NOW_MS,
    logger: { info() {}, warn() {}, error: (facts) => errors.push(facts) },
    program: programOf([]),
    guardianCounts: () => Promise.resolve([]),
    ...options,
    dataDir,
  });
  return {
    plane,
    dataDir,
    errors,
    [Symbol.asyncDispose]: async () => {
      await plane.stop();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
