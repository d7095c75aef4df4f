import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { detectEncoding } from '../../../ingest/upload/decompress.ts';
import { CommandFailed } from '../command.ts';
import { lockStateFile, readStateFile, writeStateFile } from '../state-file.ts';
import { FileGeneration, type GenerationState } from './file-generation.ts';
import type { LineBatch, LineSource } from './line-batch.ts';

export interface FollowedFileOptions {
  /** How messages name it. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** Where it is kept how far the file was sent. */
  readonly statePath: string;
  /** The program that the file is sent to. */
  readonly url: string;
  /** How long a file that lost its name stays open, for what is still written to it. */
  readonly lingerMs: number;
  /** Milliseconds since any moment. */
  readonly now: () => number;
  /** Shows a message to people. */
  readonly tell: (message: string) => void;
}

/**
 * A file that is followed by its name, as `tail -F` does it: what is appended, and where the file is renamed and another one takes its
 * name, first the rest of the one and then the other. How far it was sent is kept in a state, which another process cannot use meanwhile.
 */
export class FollowedFile implements LineSource {
  /** Never true, because another file may take the name at any time. */
  readonly isDone = false;
  readonly #options: FollowedFileOptions;
  readonly #lock: ReturnType<typeof lockStateFile>;
  /** The files that have or had the name, the oldest first. */
  #generations: FileGeneration[] = [];
  #current: { readonly generation: FileGeneration; readonly batch: LineBatch } | null = null;
  #looking: Promise<void> | null = null;
  /** Whether the state has all files, so that a restart finds one that lost its name before any of it was sent. */
  #isSaved = true;
  /** Whether the file is followed already. From then on a folder or pipe that takes its name is waited for. */
  #isOpen = false;
  /** Why the name cannot be opened at present, so that it is told once. */
  #fault: string | null = null;

  private constructor(options: FollowedFileOptions) {
    this.#options = options;
    this.#lock = lockStateFile(options.statePath, 'another shieldlog ingest --follow is sending this file');
  }

  /** Goes on where the state says. Throws CommandFailed where the state is in use or none, or the file is no text of lines. */
  static async open(options: FollowedFileOptions): Promise<FollowedFile> {
    const file = new FollowedFile(options);
    try {
      await file.#goOn(readState(options));
      await file.look();
      file.#isOpen = true;
      await file.#refuseOtherForms();
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get name(): string {
    return this.#options.name;
  }

  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async next(): Promise<LineBatch | null> {
    await this.look();
    for (const generation of [...this.#generations]) {
      if (await generation.wasWrittenAnew()) this.#options.tell(`${this.name} was cut or written anew; going on from its beginning`);
      const batch = await generation.nextBatch(this.#isPast(generation));
      if (batch !== null) {
        this.#current = { generation, batch };
        return batch;
      }
      if (this.#isPast(generation)) await this.#drop(generation);
    }
    return null;
  }

  /** Throws DeliveryError where the state cannot be written. */
  async accepted(): Promise<void> {
    const current = this.#current;
    // The batch is noted once, also where the state has to be written more than once.
    this.#current = null;
    await current?.generation.accepted(current.batch);
    await this.#save();
  }

  async position(): Promise<string> {
    const newest = this.#generations.at(-1);
    if (newest === undefined) return `${this.name} ${this.#fault === 'ENOENT' ? 'is not there' : 'could not be read'} yet`;
    await newest.wasWrittenAnew();
    const { offset, lines } = newest.state;
    const rest = await newest.unsentBytes();
    const maySend = (await newest.nextBatch()) !== null || newest.isLooking;
    const waits = rest === 0 ? '' : `; the ${rest} bytes behind it are ${maySend ? 'not sent' : 'no whole line yet'}`;
    return `${this.name} was sent up to byte ${offset} (line ${lines})${waits}`;
  }

  async close(): Promise<void> {
    for (const generation of this.#generations) await generation.close();
    this.#generations = [];
    this.#lock.close();
  }

  /** Whether a generation lost its name so long ago that nothing more is written to it. */
  #isPast({ replacedAtMs }: FileGeneration): boolean {
    return replacedAtMs !== null && this.#options.now() - replacedAtMs >= this.#options.lingerMs;
  }

  async #drop(generation: FileGeneration): Promise<void> {
    this.#generations = this.#generations.filter((other) => other !== generation);
    await generation.close();
    await this.#save();
  }

  async #save(): Promise<void> {
    const { path, url, statePath } = this.#options;
    await writeStateFile(statePath, `${JSON.stringify({ url, path, files: this.#generations.map(({ state }) => state) })}\n`);
    this.#isSaved = true;
  }

  async #lookOnce(): Promise<void> {
    await this.#lookAtName();
    if (!this.#isSaved) await this.#save();
  }

  /** Opens the file that has the name, if it is another one than before. */
  async #lookAtName(): Promise<void> {
    try {
      const found = await stat(this.#options.path, { bigint: true });
      if (!found.isFile()) return this.#waitForFile();
      const { dev, ino } = found;
      if (this.#generations.at(-1)?.isFile(dev, ino) !== true) {
        // Another thing may have taken the name since it was looked at.
        const generation = await FileGeneration.open(this.#options.path);
        if (generation === null) return this.#waitForFile();
        this.#begin(generation);
      }
      this.#fault = null;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      // Between the two steps of a rotation there is no file of the name.
      if (code === 'ENOENT' && this.#generations.length > 0) return;
      this.#waitFor(code, message);
    }
  }

  /** A folder or pipe that takes the name of a followed file is waited for; one that has it at the start is a mistake. */
  #waitForFile(): void {
    if (!this.#isOpen) throw new CommandFailed(`${this.name} is no file; allowed with --follow: a file, or - for standard input`);
    this.#waitFor('no file', 'it is no file');
  }

  #waitFor(fault: string, message: string): void {
    if (this.#fault !== fault) this.#options.tell(`${this.name} cannot be read, and is waited for: ${message}`);
    this.#fault = fault;
  }

  #begin(generation: FileGeneration): void {
    const known = this.#generations.find((other) => other.device === generation.device && other.inode === generation.inode);
    for (const other of this.#generations) other.replacedAtMs ??= this.#options.now();
    this.#generations = [...this.#generations.filter((other) => other !== known), known ?? generation];
    this.#isSaved = false;
    if (known === undefined) return;
    // It got its name back.
    known.replacedAtMs = null;
    void generation.close();
  }

  async #goOn(states: readonly GenerationState[]): Promise<void> {
    for (const state of states) {
      const generation = await this.#find(state);
      if (generation === null) {
        const rest = 'what was appended to it after that is not sent, if there was anything';
        const advice = 'shieldlog ingest sends rotated files, and stores nothing twice';
        this.#options.tell(
          `what was ${this.name} is gone or was written anew, after ${state.offset} bytes of it were sent: ${rest}; ${advice}`,
        );
      } else this.#generations.push(generation);
    }
    const newest = this.#generations.at(-1);
    for (const generation of this.#generations) if (generation !== newest) generation.replacedAtMs = this.#options.now();
  }

  /** The file of a state, under its name or another one in the same folder. */
  async #find(state: GenerationState): Promise<FileGeneration | null> {
    const folder = dirname(this.#options.path);
    const names = await readdir(folder).catch(() => []);
    for (const path of [this.#options.path, ...names.map((name) => join(folder, name))]) {
      const found = await stat(path, { bigint: true }).catch(() => null);
      if (found === null || !found.isFile() || String(found.dev) !== state.device || String(found.ino) !== state.inode) continue;
      return FileGeneration.openAt(path, state);
    }
    return null;
  }

  /** Throws CommandFailed where a file that is followed from its beginning is compressed or an array. Others were looked at before. */
  async #refuseOtherForms(): Promise<void> {
    const newest = this.#generations.at(-1);
    if (newest === undefined || newest.state.offset > 0) return;
    const beginning = await newest.beginning();
    const encoding = detectEncoding(beginning);
    const wrong =
      encoding !== 'identity' ? `is compressed with ${encoding}` : /^\s*\[/.test(beginning.toString()) ? 'is a JSON array' : null;
    if (wrong !== null) throw new CommandFailed(`${this.name} ${wrong}; allowed with --follow: a file of lines`);
  }
}

function readState({ statePath, path }: FollowedFileOptions): readonly GenerationState[] {
  const text = readStateFile(statePath);
  if (text === null) return [];
  try {
    const state = JSON.parse(text) as { readonly path?: unknown; readonly files?: unknown } | null;
    if (state?.path === path && Array.isArray(state.files) && state.files.every(isGenerationState)) return state.files;
  } catch {
    // Thrown below, as for JSON of another shape.
  }
  throw new CommandFailed(`the state ${statePath} is not one of ${path}; remove it to send the file from its beginning`);
}

function isGenerationState(value: unknown): value is GenerationState {
  const { device, inode, offset, lines, headBytes, headHash } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const areCounts = [offset, lines, headBytes].every((count) => Number.isSafeInteger(count) && (count as number) >= 0);
  return areCounts && [device, inode, headHash].every((text) => typeof text === 'string');
}
