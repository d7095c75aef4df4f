import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Instruction {
  /** The instruction, for example `COPY`. */
  readonly name: string;
  readonly rest: string;
}

/** The instructions of a Dockerfile in their order, continued lines joined, comments left out. */
function instructionsOf(dockerfile: string): Instruction[] {
  return dockerfile
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
      return { name, rest };
    });
}

/** Returns the filter of `.dockerignore`: the last line that names a path or a folder above it decides, as in Docker. */
export function contextFilter(dockerignore: string): (path: string) => boolean {
  const rules = dockerignore
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isLetIn: line.startsWith('!'), pattern: patternOf(line.replace(/^!/, '')) }));
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.isLetIn ?? true;
}

/** `*` stands for anything but a slash. */
function patternOf(line: string): RegExp {
  const text = line
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/]*');
  return new RegExp(`^${text}(/|$)`);
}

export function readDockerfile(root: string): Instruction[] {
  return instructionsOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
}

export function readContextFilter(root: string): (path: string) => boolean {
  return contextFilter(readFileSync(join(root, '.dockerignore'), 'utf8'));
}
