import { writeFileSync } from 'node:fs';

/** What errors of vitest say where a test, a hook or a poll took too long; those of the tests' own waiting and of Node have names. */
const TIMED_OUT = /^(Test|Hook) timed out in \d+ms/;
const POLLED_IN_VAIN = 'Matcher did not succeed in time.';
const TIME_LIMITS = ['TimeLimitError', 'TimeoutError'];

function isTimeLimit(error) {
  return TIME_LIMITS.includes(error.name) || TIMED_OUT.test(error.message) || error.cause?.message === POLLED_IN_VAIN;
}

function secondsOf(module) {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  return (environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration) / 1000;
}

/** A file that does not load and an error outside of its tests count as one failure each, because no test counts them. */
function summaryOf(module) {
  const tests = [...module.children.allTests()].map((test) => ({ name: test.fullName, ...test.result() }));
  const failed = tests.filter(({ state }) => state !== 'passed' && state !== 'skipped');
  const errors = [...module.errors(), ...failed.flatMap((test) => test.errors ?? [])];
  return {
    project: module.project.name,
    file: module.relativeModuleId,
    seconds: secondsOf(module),
    passed: tests.filter(({ state }) => state === 'passed').length,
    failed: failed.length === 0 && module.state() === 'failed' ? 1 : failed.length,
    isByTimeAlone: errors.length > 0 && errors.every(isTimeLimit),
    output: [...failed.map(({ name }) => name), ...errors.map(({ stack, message }) => stack ?? message)].join('\n'),
  };
}

/**
 * A vitest reporter that writes what became of each file to the file that SHIELDLOG_TEST_SUMMARY names: `files` as {@link summaryOf} has
 * them, and the number of `errors` outside of all files.
 */
export default class TestSummaryReporter {
  onTestRunEnd(testModules, unhandledErrors) {
    const summary = { files: testModules.map(summaryOf), errors: unhandledErrors.length };
    writeFileSync(process.env.SHIELDLOG_TEST_SUMMARY, JSON.stringify(summary));
  }
}
