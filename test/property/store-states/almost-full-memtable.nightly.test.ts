import { testEachState } from './every-reader.ts';
import { ALMOST_FULL_MEMTABLE } from './spreads.ts';

testEachState(ALMOST_FULL_MEMTABLE);
