import { expect, test } from 'vitest';
import { searchJson } from '../../../src/http/search-json.ts';
import { pieceOf } from '../../fixtures/answered-rows.ts';
import { uncounted, wholeAnswer } from '../../fixtures/whole-answer.ts';

const ROW = { zoneId: 7, logId: 'a', timestamp: 1, log: Buffer.from('{}'), fields: {} };

test.each([
  ['no piece', [], 0],
  ['one piece without rows', [[]], 0],
  ['a piece', [[ROW]], 1],
  ['pieces', [[ROW], [ROW, ROW]], 3],
  ['pieces, the last one without rows', [[ROW], []], 1],
])('rows that come as %s are one array', async (_, pieces, count) => {
  async function* rows() {
    for (const piece of pieces) yield pieceOf(piece);
  }
  const answer = JSON.parse(
    (await wholeAnswer(searchJson({ kind: 'rows', total: 9, rows: rows() }, { index: 0, size: 50 }, uncounted))).toString(),
  );
  expect([answer.rows.length, answer.groups, answer.total]).toEqual([count, null, 9]);
});
