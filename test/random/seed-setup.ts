import fc from 'fast-check';
import { runSeed } from './run-seed.ts';

// vitest runs this before each file of tests: whatever fast-check draws there comes from the seed of the run.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: runSeed() });
