import { testEachState } from './every-reader.ts';
import { DAY } from './spreads.ts';

testEachState(DAY);
