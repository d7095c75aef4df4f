import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { clockEnv } from '../fixtures/program-env.ts';
import { type Instruction, readContextFilter, readDockerfile } from './dockerfile.ts';

/** The user `node` of the official images. */
const NODE_USER = 1000;
const isRoot = process.getuid?.() === 0;
/** Only root can become somebody else. */
const user = isRoot ? { uid: NODE_USER, gid: NODE_USER } : {};

export type Variables = Readonly<Record<string, string>>;

/**
 * Builds a checkout by its Dockerfile, in a folder that stands for the image's root. Its instructions are carried out in their order,
 * with every absolute path moved below that folder; the base image brings Node and nothing else.
 */
export class ImageLayout {
  readonly root: string;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly #instructions: readonly Instruction[];
  readonly #env: Record<string, string> = {};
  #folder: string;

  constructor(checkout: string) {
    this.root = mkdtempSync(join(tmpdir(), 'shieldlog-image-'));
    chmodSync(this.root, 0o755);
    this.#folder = this.root;
    this.#instructions = readDockerfile(checkout);
    this.#addNode();
    for (const instruction of this.#instructions) this.#carryOut(instruction, checkout);
    this.command = JSON.parse(this.#only('CMD')) as string[];
    this.healthcheck = JSON.parse(/ CMD (\[.*\])$/.exec(this.#only('HEALTHCHECK'))?.[1] ?? '[]') as string[];
    // The root of a container is read-only.
    execFileSync('chmod', ['-R', 'a-w', this.#folder]);
  }

  /** Runs a command as in the container: the image's folder, variables and user, and of this process's environment the clock alone. */
  start([name = '', ...args]: readonly string[], variables: Variables = {}): ChildProcess {
    return spawn(name, args, { cwd: this.#folder, env: { ...this.#env, ...clockEnv(), PATH: this.#path(), ...variables }, ...user });
  }

  remove(): void {
    execFileSync('chmod', ['-R', 'u+w', this.root]);
    rmSync(this.root, { recursive: true, force: true });
  }

  #path(): string {
    return [join(this.root, 'usr/local/bin'), '/usr/bin', '/bin'].join(delimiter);
  }

  #addNode(): void {
    const node = join(this.root, 'usr/local/bin/node');
    mkdirSync(dirname(node), { recursive: true });
    try {
      linkSync(process.execPath, node);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      copyFileSync(process.execPath, node);
    }
  }

  #carryOut({ name, rest }: Instruction, checkout: string): void {
    switch (name) {
      case 'ENV':
        for (const [, variable = '', value = ''] of rest.matchAll(/(\w+)=(\S*)/g)) this.#env[variable] = this.#below(value);
        break;
      case 'WORKDIR':
        this.#folder = this.#below(rest);
        mkdirSync(this.#folder, { recursive: true });
        break;
      case 'COPY':
        this.#copy(rest.split(/\s+/), checkout);
        break;
      case 'RUN':
        this.#run(rest);
        break;
      case 'FROM':
      case 'USER':
      case 'VOLUME':
      case 'EXPOSE':
      case 'STOPSIGNAL':
      case 'HEALTHCHECK':
      case 'CMD':
        break;
      default:
        throw new Error(`The layout of the image does not know the instruction ${name}`);
    }
  }

  #copy(words: readonly string[], checkout: string): void {
    const isLetIn = readContextFilter(checkout);
    const target = join(this.#folder, words.at(-1) ?? '');
    for (const source of words.slice(0, -1)) {
      const from = join(checkout, source);
      const to = words.at(-1)?.endsWith('/') ? join(target, basename(source)) : target;
      if (!isLetIn(source)) throw new Error(`.dockerignore keeps ${source} from the Dockerfile's COPY`);
      cpSync(from, to, { recursive: true, filter: (path) => isLetIn(relative(checkout, path)) });
    }
  }

  #run(text: string): void {
    const command = this.#below(text.replaceAll(/--mount=\S+/g, '')).replaceAll('node:node', isRoot ? `${NODE_USER}:${NODE_USER}` : '');
    // npm takes packages from its cache, if they are there.
    const env = { ...process.env, ...this.#env, npm_config_prefer_offline: 'true' };
    execFileSync('sh', ['-ec', command], { cwd: this.#folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  }

  /** The same text with the absolute paths in it below the layout's root. */
  #below(text: string): string {
    return text.replaceAll(/(^|\s)\/(?=\w)/g, `$1${this.root}/`);
  }

  #only(name: string): string {
    const found = this.#instructions.filter((instruction) => instruction.name === name);
    if (found.length !== 1) throw new Error(`The Dockerfile has ${found.length} instructions ${name} instead of one`);
    return found[0]?.rest ?? '';
  }
}
