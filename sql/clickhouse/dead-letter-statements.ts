import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import { clickhouseDialect, clickhouseStatement } from '../dialect.ts';
import { int32, int64, NO_SQL, type SqlFragment, type SqlStatement, sql, text, textList, trusted } from '../statement.ts';
import { storeTime } from './clock-statements.ts';
import { inStore } from './store-tables.ts';

/** An id is the microsecond of the store at which a letter was stored, with its place in the batch added, and 64 bits by chance. */
const NEW_ID = `bitOr(bitShiftLeft(toUInt128(${storeTime(0n)} + position), 64), toUInt128(rand64()))`;

/** An id as callers have it: 32 hexadecimal digits. */
const SHOWN_ID = trusted(`leftPad(lower(hex(id)), 32, '0')`);

const FILE =
  'position Int64, identity String, zoneId Nullable(Int32), receivedAt Int64, source String, topic Nullable(String), ' +
  'partition Nullable(Int32), messageOffset Nullable(Int64), itemIndex Nullable(Int64), mapping Nullable(String), isBatch Bool, ' +
  'isRecordOnly Bool, reason String, sizeBytes Int64, recordCost Int64, cost Int64, sha256 String, bytes String';
const ORIGIN = 'zoneId, receivedAt, source, topic, partition, messageOffset, itemIndex, mapping, isBatch';
const COPIED = `${ORIGIN}, isRecordOnly, reason, sizeBytes, recordCost, cost`;

/** Letters that are not removed; those with the identities alone where some are given, which the key of both tables finds. */
function notRemoved(identities?: SqlFragment): SqlFragment {
  const [ofLetters, ofRemoved] =
    identities === undefined ? [NO_SQL, NO_SQL] : [sql`identity IN (${identities}) AND `, sql` WHERE identity IN (${identities})`];
  return sql`${ofLetters}id NOT IN (SELECT arrayJoin(ids) FROM removed_letters${ofRemoved})`;
}

/** Of the letters with each of these identities the first, as what is left of it. */
function firstLetters(identities: SqlFragment): SqlFragment {
  return sql`(SELECT * FROM letters WHERE ${notRemoved(identities)} ORDER BY id, isRecordOnly DESC LIMIT 1 BY identity)`;
}

/** Identities that are given in base64. */
function given(identities: readonly string[]): SqlFragment {
  return sql`SELECT base64Decode(arrayJoin(${textList(identities)}))`;
}

const numberOf = (id: string): string => BigInt(`0x${id}`).toString();

/** Stores letters, which follow as lines of JSON with their bytes and hashes in base64. Those whose identity a letter has are left out. */
export function insertLettersStatement(identities: readonly string[], storeId: number): SqlStatement {
  return clickhouseStatement(
    sql`INSERT INTO letters (id, identity, ${trusted(COPIED)}, sha256, bytes)
      SELECT ${trusted(NEW_ID)}, base64Decode(identity), ${trusted(COPIED)}, base64Decode(sha256), base64Decode(bytes)
      FROM input('${trusted(FILE)}')
      WHERE ${inStore(storeId)}
      AND base64Decode(identity) NOT IN (SELECT identity FROM letters WHERE ${notRemoved(given(identities))}) FORMAT JSONEachRow`,
  );
}

/** Which of these identities, in base64, letters have. Columns: the identity, whether the letter's bytes are not kept. */
export function knownLettersStatement(identities: readonly string[]): SqlStatement {
  return clickhouseStatement(sql`SELECT base64Encode(identity), isRecordOnly FROM ${firstLetters(given(identities))}`);
}

/** What letters are selected by; the zones are the caller's. */
interface ChosenLetters {
  readonly zones: ZoneSelection;
  readonly ids?: readonly string[] | undefined;
  readonly afterId?: string | undefined;
  readonly limit: number;
}

function chosen({ zones, ids, afterId }: Omit<ChosenLetters, 'limit'>): SqlFragment {
  const named = ids === undefined ? NO_SQL : sql` AND id IN (SELECT toUInt128(arrayJoin(${textList(ids.map(numberOf))})))`;
  const after = afterId === undefined ? NO_SQL : sql` AND id > toUInt128(${text(numberOf(afterId))})`;
  const ofZones = zones === 'all' ? NO_SQL : sql` AND ${clickhouseDialect.isOneOfNumbers(trusted('zoneId'), zones)}`;
  return sql`${named}${after}${ofZones}`;
}

/** Letters that may be listed, by id; one may be there twice. Columns: id, identity in base64, what the letter takes. */
export function candidateLettersStatement(selection: ChosenLetters): SqlStatement {
  return clickhouseStatement(
    sql`SELECT ${SHOWN_ID}, base64Encode(identity), cost FROM letters
      WHERE ${notRemoved()}${chosen(selection)} ORDER BY id LIMIT ${int64(selection.limit)}`,
  );
}

/** The letters with these ids and identities that are of the zones, and the first of their identities, by id. */
export function lettersStatement(zones: ZoneSelection, ids: readonly string[], identities: readonly string[]): SqlStatement {
  return clickhouseStatement(
    sql`SELECT ${SHOWN_ID}, ${trusted(`${ORIGIN}, isRecordOnly, reason, sizeBytes`)}, base64Encode(sha256), base64Encode(bytes)
      FROM ${firstLetters(given(identities))} WHERE true${chosen({ zones, ids })} ORDER BY id`,
  );
}

/**
 * Removes letters of the zones, with all others of their identities: one row is written for each identity. Where the identities are known,
 * in base64, the key finds them.
 */
export function removeLettersStatement(selection: ChosenLetters, identities?: readonly string[]): SqlStatement {
  const { ids, limit, ...others } = selection;
  const known = identities === undefined ? sql`true` : sql`identity IN (${given(identities)})`;
  const named = ids === undefined ? undefined : sql`SELECT identity FROM letters WHERE ${known}${chosen(selection)}`;
  const first = limit < (ids?.length ?? Number.MAX_SAFE_INTEGER) ? sql` ORDER BY min(id) LIMIT ${int64(limit)}` : NO_SQL;
  return clickhouseStatement(
    sql`INSERT INTO removed_letters (identity, ids, receivedAt)
      SELECT identity, groupUniqArray(id), max(receivedAt) FROM letters WHERE ${notRemoved(named)}${chosen(others)}
      GROUP BY identity${first} SETTINGS optimize_aggregation_in_order = 1, max_partitions_per_insert_block = 0`,
  );
}

/** A letter that gave up its bytes has its whole row, too, until ClickHouse merges them. FINAL would take five times as long to tell. */
const STANDING = trusted('(isRecordOnly OR id NOT IN (SELECT id FROM letters WHERE isRecordOnly))');

/** How many letters there are of each zone, whole ones and records apart, and what they take. */
export function letterSharesStatement(): SqlStatement {
  return clickhouseStatement(
    sql`SELECT zoneId, isRecordOnly, count(), sum(cost) FROM letters WHERE ${notRemoved()} AND ${STANDING} GROUP BY zoneId, isRecordOnly`,
  );
}

/** What a zone holds: `null` has the letters without one. */
interface LettersOfZone {
  readonly zoneId: number | null;
  readonly isRecordOnly: boolean;
  readonly afterId: string | undefined;
  readonly limit: number;
}

/** The oldest letters of a zone, by id. Columns: id, identity in base64, cost without its bytes, cost with them, whether from Kafka. */
export function oldestLettersStatement({ zoneId, isRecordOnly, afterId, limit }: LettersOfZone): SqlStatement {
  const zone = zoneId === null ? sql`zoneId IS NULL` : sql`zoneId = ${int32(zoneId)}`;
  const kind = trusted(isRecordOnly ? 'isRecordOnly' : 'NOT isRecordOnly');
  return clickhouseStatement(
    sql`SELECT ${SHOWN_ID}, base64Encode(identity), recordCost, cost, topic IS NOT NULL FROM letters
      WHERE ${notRemoved()} AND ${STANDING} AND ${zone} AND ${kind}${chosen({ zones: 'all', afterId })} ORDER BY id LIMIT ${int64(limit)}`,
  );
}

/** Has the letters with these ids and identities give up their bytes. */
export function reduceLettersStatement(ids: readonly string[], identities: readonly string[]): SqlStatement {
  return clickhouseStatement(
    sql`INSERT INTO letters (id, identity, ${trusted(COPIED)}, sha256, bytes)
      SELECT id, identity, ${trusted(ORIGIN)}, true, reason, sizeBytes, recordCost, recordCost, sha256, ''
      FROM ${firstLetters(given(identities))} WHERE true${chosen({ zones: 'all', ids })} SETTINGS max_partitions_per_insert_block = 0`,
  );
}
