/**
 * What each npm script runs, in order; the first that fails ends it. `node` stands for a Node that can run the program.
 * `env` holds defaults: what the caller has set wins. `packages`: folders with a package.json of their own that is installed too. Arguments after the script's name go to its last command.
 *
 * @type {Readonly<Record<string, { commands: readonly (readonly string[])[], env?: Readonly<Record<string, string>>, callersFolder?: boolean, packages?: readonly string[] }>>}
 */
export const SCRIPTS = {
  start: { commands: [['node', 'src/main.ts', 'serve']], env: { DEMO: 'auto' } },
  serve: { commands: [['node', 'src/main.ts', 'serve']] },
  // File names on the command line are relative to where the caller stands, not to the checkout.
  shieldlog: { commands: [['node', 'src/main.ts']], callersFolder: true },
  // Tests compile the kernels and compare.
  test: { commands: [['node', 'scripts/run-tests.mjs']], packages: ['ingest/kernel', 'store/kernel'] },
  'test:unit': {
    commands: [['node', 'scripts/run-tests.mjs', '--project', 'unit', '--maxWorkers', '100%']],
    packages: ['ingest/kernel', 'store/kernel'],
  },
  check: { commands: [['tsc', '-p', '.'], ['biome', 'ci', '.'], ['knip']] },
  bench: { commands: [['node', 'bench/main.ts']], packages: ['bench'] },
  'bench:smoke': { commands: [['node', 'bench/main.ts', '--smoke']], packages: ['bench'] },
};
