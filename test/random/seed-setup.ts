import fc from 'fast-check';
import { drawFromStart, runSeed } from './run-seed.ts';

// vitest runs this before each file of tests: whatever is drawn there comes from the seed of the run.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: runSeed() });
drawFromStart();
