import { HostileTable } from './hostile-table.ts';
import { describeHostileTexts } from './hostile-texts.ts';

describeHostileTexts((texts) => HostileTable.filledWith(texts));
