import { execFileSync } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyDataDir } from '../events/event-file.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Another commit of this repository in a folder of its own. */
export interface OtherCheckout {
  /** The short name of the commit. */
  readonly commit: string;
  /** The program that runs its engine. */
  readonly host: string;
  /** Whether it has the same files as this checkout, so that every ratio is 1 but for noise. */
  readonly isSame: boolean;
  remove(): void;
}

/** The packages that may make a difference by themselves. */
const MEASURED_PACKAGES = ['@duckdb/node-api', 'node'];

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Checks a commit out. It runs with the packages of this checkout if these have all that it needs, in the same versions of DuckDB and Node,
 * and else with its own, which npm installs. Throws where git knows no such commit.
 */
export async function checkOut(name: string): Promise<OtherCheckout> {
  const commit = commitOf(name);
  const folder = await emptyDataDir(`commit-${commit.slice(0, 12)}`);
  const remove = () => void git('worktree', 'remove', '--force', folder);
  git('worktree', 'add', '--quiet', '--detach', '--force', folder, commit);
  try {
    await givePackages(folder);
  } catch (error) {
    remove();
    throw error;
  }
  const isClean = git('status', '--porcelain') === '';
  return {
    commit: git('rev-parse', '--short', commit),
    host: join(folder, 'bench/engines/engine-host.ts'),
    isSame: isClean && git('rev-parse', 'HEAD^{tree}') === git('rev-parse', `${commit}^{tree}`),
    remove,
  };
}

/** The full name of a commit. */
function commitOf(name: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`);
  } catch {
    throw new Error('it is no commit, tag or branch of this repository');
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

async function givePackages(folder: string): Promise<void> {
  for (const part of ['', 'bench']) {
    const [ours, theirs] = await Promise.all([manifestOf(join(ROOT, part)), manifestOf(join(folder, part))]);
    const needed = Object.entries(theirs.dependencies ?? {});
    const has = ours.dependencies ?? {};
    const isSame = needed.every(([name, version]) => name in has && (!MEASURED_PACKAGES.includes(name) || has[name] === version));
    if (isSame) {
      await symlink(join(ROOT, part, 'node_modules'), join(folder, part, 'node_modules'));
    } else {
      execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: join(folder, part), stdio: ['ignore', 2, 2] });
    }
  }
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}
