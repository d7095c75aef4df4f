import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Circumstances } from './race-result.ts';

const GIB = 1024 ** 3;

/** The circumstances of the running program. */
export function circumstances(versions: Circumstances['versions']): Circumstances {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ' with changes';
  return {
    startedAt: new Date().toISOString(),
    commit: `${git('rev-parse', '--short', 'HEAD')}${changed}`,
    command: ['node', `bench/${basename(process.argv[1] ?? '')}`, ...process.argv.slice(2)].join(' '),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memoryGib: Math.round(totalmem() / GIB),
      platform: process.platform,
    },
    versions: { node: process.versions.node, ...versions },
  };
}

export function circumstancesText({ commit, command, machine, versions }: Circumstances): string {
  return [
    `machine:  ${machine.cores} x ${machine.cpu}, ${machine.memoryGib} GiB, ${machine.platform}`,
    `versions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    `commit:   ${commit}`,
    `command:  ${command}`,
  ].join('\n');
}
