import { DAY_MS } from '../../query/durations.ts';

export const FIRST_DAY = 20_000;

/** The tables of dead letters as version 2 of the schema has them. */
const EARLIER_TABLES = [
  `CREATE TABLE dead_letters (id Int64, identity String, zoneId Nullable(Int32), receivedAt Int64, source String, topic Nullable(String),
    partition Nullable(Int32), messageOffset Nullable(Int64), itemIndex Nullable(Int64), isBatch Bool, isRecordOnly Bool, reason String,
    sizeBytes Int64, sha256 String, bytes String) ENGINE = MergeTree PARTITION BY intDiv(receivedAt, ${DAY_MS}) ORDER BY id`,
  `CREATE TABLE removed_dead_letters (id Int64, receivedAt Int64)
    ENGINE = MergeTree PARTITION BY intDiv(receivedAt, ${DAY_MS}) ORDER BY id`,
];

/** The number of a letter's microsecond, and the two bits of its program. */
export const earlierId = (position: number): string => `${(1_790_000_000_000_000n + BigInt(position)) * 4n + 1n}`;

export const COLUMNS =
  '(id, identity, zoneId, receivedAt, source, topic, messageOffset, itemIndex, isRecordOnly, reason, sizeBytes, bytes)';

/** More than a statement writes partitions of where nothing else is asked for. */
export const MANY_DAYS = 150;

/** Letters of version 2: one of each day, one removed, one twice, two of different zones with one id, one from Kafka. */
const earlierLetters = (days: number): readonly string[] => [
  `INSERT INTO dead_letters ${COLUMNS} SELECT ${earlierId(0)} + 4 * number, concat('day ', toString(number)), 7,
    (${FIRST_DAY} + number) * ${DAY_MS}, 'http', NULL, NULL, NULL, false, 'r', 1, toString(number)
    FROM numbers(${days}) SETTINGS max_partitions_per_insert_block = 0`,
  `INSERT INTO dead_letters ${COLUMNS} VALUES
    (${earlierId(200)}, 'removed', 7, ${FIRST_DAY * DAY_MS}, 'http', NULL, NULL, NULL, false, 'r', 1, 'removed'),
    (${earlierId(201)}, 'twice', 7, ${FIRST_DAY * DAY_MS}, 'http', NULL, NULL, NULL, false, 'r', 1, 'twice'),
    (${earlierId(202)}, 'twice', 7, ${FIRST_DAY * DAY_MS}, 'http', NULL, NULL, NULL, false, 'r', 1, 'twice'),
    (${earlierId(203)}, 'one', 1, ${FIRST_DAY * DAY_MS}, 'http', NULL, NULL, NULL, false, 'r', 1, 'of zone 1'),
    (${earlierId(203)}, 'other', 2, ${FIRST_DAY * DAY_MS}, 'http', NULL, NULL, NULL, false, 'r', 1, 'of zone 2'),
    (${earlierId(204)}, 'kafka', NULL, ${FIRST_DAY * DAY_MS}, 'kafka', 't', 9, 3, true, 'r', 70000, '')`,
  `INSERT INTO removed_dead_letters VALUES (${earlierId(200)}, ${FIRST_DAY * DAY_MS})`,
];

/**
 * Makes the tables of a database those of version 2, or of version 1, with these letters.
 *
 * @param run runs a statement as somebody who may
 * @param days how many days have letters, each of which is a part of its own that every change of the table rewrites
 */
export async function makeEarlier(run: (statement: string) => Promise<unknown>, version: 1 | 2, days: number): Promise<void> {
  for (const statement of [
    'DROP TABLE letters SYNC',
    'DROP TABLE removed_letters SYNC',
    'TRUNCATE TABLE schema_versions',
    `INSERT INTO schema_versions VALUES (${version}, 0)`,
    ...EARLIER_TABLES,
    ...earlierLetters(days),
    ...(version === 2 ? [] : ['ALTER TABLE dead_letters DROP COLUMN itemIndex']),
  ]) {
    await run(statement);
  }
}
