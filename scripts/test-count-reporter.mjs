import { writeFileSync } from 'node:fs';

/**
 * A vitest reporter that writes `{passed, failed}` of all projects together to the file that SHIELDLOG_TEST_COUNTS names. A file that does
 * not load and an error outside of all tests count as one failure each, because no test counts them.
 */
export default class TestCountReporter {
  onTestRunEnd(testModules, unhandledErrors) {
    let passed = 0;
    let failed = unhandledErrors.length;
    for (const module of testModules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        else if (state !== 'skipped') failedHere += 1;
      }
      failed += failedHere === 0 && module.state() === 'failed' ? 1 : failedHere;
    }
    writeFileSync(process.env.SHIELDLOG_TEST_COUNTS, JSON.stringify({ passed, failed }));
  }
}
