import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Names the file to which the reporter appends a {@link TriedFile} as a line for each test file that is through. */
export const RESULTS_VARIABLE = 'SHIELDLOG_FUZZ_RESULTS';

/** A test file that is through. */
export interface TriedFile {
  /** Relative to the checkout. */
  readonly file: string;
  readonly failures: number;
}

const SHOWN_LINES = 40;

/** Prints what fails as soon as its file is through, because the round may be cut off. */
export default class FuzzReporter implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const failed = [...module.children.allTests('failed')];
    for (const test of failed) this.#print(`${module.relativeModuleId} > ${test.fullName}`, test.result().errors ?? []);
    if (module.errors().length > 0) this.#print(module.relativeModuleId, module.errors());
    const failures = failed.length + module.errors().length;
    appendFileSync(
      process.env[RESULTS_VARIABLE] ?? '',
      `${JSON.stringify({ file: module.relativeModuleId, failures } satisfies TriedFile)}\n`,
    );
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly { readonly message: string }[]): void {
    if (errors.length > 0) this.#print('outside of all tests', errors);
  }

  #print(where: string, errors: readonly { readonly message: string }[]): void {
    const text = errors.map(({ message }) => message).join('\n');
    process.stdout.write(`FAIL ${where}\n${text.split('\n').slice(0, SHOWN_LINES).join('\n')}\n`);
  }
}
