import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { type ProgramUnderTest, startProgramProcess } from './program-under-test.ts';

/** One of several programs side by side, which is killed and started again. */
export interface Slot {
  readonly program: ProgramUnderTest;
  /** Where it listens; undefined as long as it does not. */
  readonly url: string | undefined;
}

/** Programs that share a store, each with a folder of its own. They are killed with the test. */
export class SideBySide {
  readonly slots: Slot[] = [];
  readonly #variables: Readonly<Record<string, string>>;
  readonly #folder = temporaryFolder();

  constructor(count: number, variables: Readonly<Record<string, string>>) {
    this.#variables = variables;
    for (let index = 0; index < count; index++) {
      this.#start(index);
    }
    onTestFinished(async () => {
      await Promise.all(this.slots.map(({ program }) => program.kill('SIGKILL')));
    });
  }

  /** Kills a program without notice, and starts it again. */
  async restart(index: number): Promise<void> {
    const { program } = this.slots[index] as Slot;
    expect(await program.kill('SIGKILL'), program.log()).toBe('SIGKILL');
    this.#start(index);
  }

  /** The address of the preferred program if it listens, and otherwise of one that does. */
  async anyUrl(preferred: number): Promise<string> {
    const found = () => this.slots[preferred]?.url ?? this.slots.find(({ url }) => url !== undefined)?.url;
    await eventually('one of the programs listens', () => found() !== undefined);
    return found() ?? '';
  }

  #start(index: number): void {
    const program = startProgramProcess({ DATA_DIR: join(this.#folder, `data-${index}`), MEMORY_LIMIT_MB: '256', ...this.#variables });
    const slot: { program: ProgramUnderTest; url: string | undefined } = { program, url: undefined };
    this.slots[index] = slot;
    program.address.then(
      (url) => {
        slot.url = url;
      },
      // It was killed before it listened. One that ended by itself is found when it is killed.
      () => {},
    );
    void program.ended.then(() => {
      slot.url = undefined;
    });
  }
}
