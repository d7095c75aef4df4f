import type { ProgramView } from '../program-view.ts';
import type { Application } from './application.ts';

/** The running program itself as an application: everything in it is measured. It costs nothing, and is to answer within 100 ms. */
export function programApplication(program: ProgramView): Application {
  return {
    id: 'shieldlog',
    region: 'local',
    image: 'shieldlog',
    imageDisplay: 'shieldlog',
    targetLatencyMs: 100,
    monthlyCost: 0,
    memoryLimitBytes: program.memoryLimitBytes,
    minutes: (fromMs, toMs) => program.minutes().filter(({ startMs }) => startMs >= fromMs && startMs < toMs),
  };
}
