import { execFile, execFileSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const BIOME = join(root, 'node_modules/@biomejs/biome/bin/biome');

export interface Finding {
  /** Path in the folder that was linted. */
  readonly file: string;
  /** The rule, such as `lint/style/noRestrictedImports`. */
  readonly rule: string;
  readonly message: string;
}

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly message: string;
    readonly location: { readonly path: string };
  }[];
}

/** What Biome, under this project's own biome.json, has to say about `files` (path to text), put into a folder of their own. */
export async function lintFiles(files: ReadonlyMap<string, string>): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'shieldlog-rooms-'));
  try {
    for (const path of ['biome.json', 'test/rooms/biome.rooms.json', 'scripts/module-paths.grit', 'scripts/drawn-tests.grit']) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await copyFile(join(root, path), join(folder, path));
    }
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const report = JSON.parse(await biome(folder)) as Report;
    return report.diagnostics.map(({ category, message, location }) => ({ file: location.path, rule: category, message }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a file of this checkout as Biome has it. */
export function formatFile(path: string): void {
  execFileSync(process.execPath, [BIOME, 'format', '--write', path], { cwd: root });
}

function biome(folder: string): Promise<string> {
  const args = [BIOME, 'lint', '--reporter=json', '--max-diagnostics=none', '.'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      // Biome ends with 1 where it found something: that is an answer.
      if (error !== null && error.code !== 1) {
        reject(new Error(`biome ended with ${error.code}: ${stderr}`));
      } else {
        resolve(stdout);
      }
    });
  });
}
