import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { add, kept, letters, QUOTA } from '../../../fixtures/quota-letters.ts';
import { temporaryFolder } from '../../../fixtures/temporary-store.ts';
import { embeddedStoreIn } from '../embedded-store-in.ts';

test('shares are right in a file of an earlier version, after a start, and where an earlier version wrote meanwhile', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'dead-letters.sqlite');
  const change = (sql: string) => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  const first = await embeddedStoreIn(folder, QUOTA);
  await add(first, ...letters(1, 8, 10_000), ...letters(2, 1, 10_000));
  await first.close();
  change(`DROP TRIGGER dead_letter_added; DROP TRIGGER dead_letter_changed; DROP TRIGGER dead_letter_removed;
    DROP TABLE dead_letter_shares; DROP INDEX dead_letters_by_share`);
  const second = await embeddedStoreIn(folder, QUOTA);
  expect(await add(second, ...letters(2, 2, 10_000))).toEqual([]);
  expect(await kept(second)).toEqual({ 'zone 1': 7, 'zone 2': 3 });
  await second.close();
  change('DELETE FROM dead_letters WHERE zone_id = 1');
  const third = await embeddedStoreIn(folder, QUOTA);
  expect(await add(third, ...letters(2, 7, 10_000), ...letters(3, 1, 10_000), ...letters(2, 1, 10_000))).toEqual([8]);
  expect(await kept(third)).toEqual({ 'zone 2': 9, 'zone 3': 1 });
  await third.removeDeadLetters({ zones: [2], limit: 8 });
  expect(await add(third, ...letters(1, 8, 10_000), ...letters(2, 1, 10_000))).toEqual([0]);
});
