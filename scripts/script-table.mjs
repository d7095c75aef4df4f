/** Tests compile the kernels. */
const TEST_PACKAGES = ['ingest/event/kernel', 'store/embedded/parquet/kernel'];

/** Runs projects of vitest.config.ts. */
const tests = (...projects) => ({
  commands: [['node', 'scripts/run-tests.mjs', ...projects.map((project) => `--project=${project}`)]],
  packages: TEST_PACKAGES,
});

/**
 * The commands of each npm script, in order; the first that fails ends it. `node` stands for a Node that can run the program. `env` has
 * defaults, which the environment of the caller overrides. `packages` are further folders whose package.json is installed. Arguments after
 * the name of the script go to its last command.
 *
 * @type {Readonly<Record<string, { commands: readonly (readonly string[])[], env?: Readonly<Record<string, string>>, callersFolder?:
 * boolean, packages?: readonly string[] }>>}
 */
export const SCRIPTS = {
  start: { commands: [['node', 'src/main.ts', 'serve']], env: { DEMO: 'auto' } },
  serve: { commands: [['node', 'src/main.ts', 'serve']] },
  // File names on the command line are relative to the folder of the caller, not to the checkout.
  shieldlog: { commands: [['node', 'src/main.ts']], callersFolder: true },
  test: tests('pure', 'unit', 'process', 'property', 'broker', 'smoke'),
  'test:unit': tests('pure', 'unit'),
  // The engine of ClickHouse is the one that the benchmark races against.
  'test:slow': { ...tests('slow', 'broker-slow'), packages: [...TEST_PACKAGES, 'bench'] },
  'test:long': { ...tests('long'), packages: [...TEST_PACKAGES, 'bench'] },
  'test:e2e': tests('readme', 'browser'),
  'test:clickhouse': { ...tests('clickhouse', 'on-clickhouse'), packages: [...TEST_PACKAGES, 'bench'] },
  'test:property': tests('property'),
  'test:nightly': { ...tests('nightly', 'nightly-on-clickhouse'), packages: [...TEST_PACKAGES, 'bench'] },
  // The caller names the project.
  'test:alone': tests(),
  fuzz: { commands: [['node', 'test/random/fuzz.ts']], packages: TEST_PACKAGES },
  torture: { commands: [['node', 'test/torture/torture.ts']], packages: ['bench'] },
  screenshots: { commands: [['node', 'test/browser/screenshots.ts']] },
  check: { commands: [['tsc', '-p', '.'], ['tsc', '-p', 'web'], ['tsc', '-p', 'test/web'], ['biome', 'ci', '.'], ['knip']] },
  bench: { commands: [['node', 'bench/main.ts']], packages: ['bench'] },
  'bench:smoke': { commands: [['node', 'bench/main.ts', '--smoke']], packages: ['bench'] },
};
