import { testEachState } from './every-reader.ts';
import { BUSY_ZONES } from './spreads.ts';

testEachState(BUSY_ZONES);
