import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { eventually } from '../fixtures/eventually.ts';
import { MOVED_CLOCK } from '../fixtures/moved-clock.ts';
import { addressOf, killAll, startCli } from '../src/cli/cli-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a program with the demo's past, without a slash at its end. */
    readonly demoUrl: string;
  }
}

/** Starts the program as `npm start` does, with the demo, which the tests share: they read, and write nothing to it. */
export default async function setUpDemo(project: TestProject): Promise<() => Promise<void>> {
  // The program, its pages and the tests have one clock.
  if (process.env['MOVED_CLOCK_AT'] !== undefined) await import(MOVED_CLOCK);
  const folder = mkdtempSync(join(tmpdir(), 'shieldlog-demo-'));
  const program = startCli(['serve', '--port', '0', '--data-dir', folder, '--demo', 'true'], { MEMORY_LIMIT_MB: '1024' });
  const url = await addressOf(program);
  await eventually('the demo has its past', () => program.stderr().includes('has filled the past'), 240_000);
  project.provide('demoUrl', url);
  return async () => {
    await killAll();
    rmSync(folder, { recursive: true, force: true });
  };
}
