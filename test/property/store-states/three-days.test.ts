import { testEachState } from './every-reader.ts';
import { THREE_DAYS } from './spreads.ts';

testEachState(THREE_DAYS);
