import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import { clickhouseDialect, clickhouseStatement } from '../dialect.ts';
import { inZones } from '../predicate-sql.ts';
import { int64, joinSql, NO_SQL, type SqlFragment, type SqlStatement, sql, textList, trusted } from '../statement.ts';
import { storeTime } from './clock-statements.ts';
import { inStore } from './store-tables.ts';

/** An id is the microsecond of the store at which a letter was stored, times this, and the lowest bits of the number of the process. */
const ID_WRITERS = 4;

/** The letters that count: those that are not removed, and of those with one identity the first. */
const KEPT = trusted(
  `(SELECT *, zoneId AS "shieldZoneId" FROM dead_letters WHERE id NOT IN (SELECT id FROM removed_dead_letters)
    ORDER BY id LIMIT 1 BY identity)`,
);

const FILE =
  'position Int64, identity String, zoneId Nullable(Int32), receivedAt Int64, source String, topic Nullable(String), ' +
  'partition Nullable(Int32), messageOffset Nullable(Int64), itemIndex Nullable(Int64), isBatch Bool, isRecordOnly Bool, ' +
  'reason String, sizeBytes Int64, sha256 String, bytes String';
const COPIED = 'zoneId, receivedAt, source, topic, partition, messageOffset, itemIndex, isBatch, isRecordOnly, reason, sizeBytes';

/** Stores letters, which follow as lines of JSON with their bytes and hashes in base64. Those whose identity a letter has are left out. */
export function insertLettersStatement(writer: number, storeId: number): SqlStatement {
  const id = `(${storeTime(0n)} + position) * ${ID_WRITERS} + ${writer % ID_WRITERS}`;
  return clickhouseStatement(
    sql`INSERT INTO dead_letters (id, identity, ${trusted(COPIED)}, sha256, bytes)
      SELECT ${trusted(id)}, base64Decode(identity), ${trusted(COPIED)}, base64Decode(sha256), base64Decode(bytes)
      FROM input('${trusted(FILE)}') WHERE ${inStore(storeId)} AND base64Decode(identity) NOT IN (SELECT identity FROM ${KEPT})
      FORMAT JSONEachRow`,
  );
}

/** Which of these identities, in base64, letters have. Columns: the identity, whether the letter's bytes are not kept. */
export function knownLettersStatement(identities: readonly string[]): SqlStatement {
  const wanted = sql`SELECT base64Decode(arrayJoin(${textList(identities)}))`;
  return clickhouseStatement(sql`SELECT base64Encode(identity), isRecordOnly FROM ${KEPT} WHERE identity IN (${wanted})`);
}

export interface ChosenLetters {
  readonly zones: ZoneSelection;
  readonly ids?: readonly string[] | undefined;
  readonly afterId: string;
  readonly limit: number;
}

function matching({ zones, ids, afterId, limit }: ChosenLetters): SqlFragment {
  const ofIds = ids === undefined ? NO_SQL : sql` AND id IN (${joinSql(ids.map((id) => sql`${int64(BigInt(id))}`))})`;
  const ofZones = zones === 'all' ? NO_SQL : sql` AND ${inZones(zones, clickhouseDialect)}`;
  return sql`FROM ${KEPT} WHERE id > ${int64(BigInt(afterId))}${ofIds}${ofZones} ORDER BY id LIMIT ${int64(limit)}`;
}

/** The ids of letters and the bytes of their messages, by id. */
export function chosenLettersStatement(chosen: ChosenLetters): SqlStatement {
  return clickhouseStatement(sql`SELECT id, length(bytes) ${matching(chosen)}`);
}

/** Letters by id. Columns: id, `COPIED`, then the hash and the bytes in base64. */
export function lettersStatement(chosen: ChosenLetters): SqlStatement {
  return clickhouseStatement(sql`SELECT id, ${trusted(COPIED)}, base64Encode(sha256), base64Encode(bytes) ${matching(chosen)}`);
}

/** Removes letters with all others of their identities. */
export function removeLettersStatement(ids: readonly string[]): SqlStatement {
  const wanted = joinSql(ids.map((id) => sql`${int64(BigInt(id))}`));
  return clickhouseStatement(
    sql`INSERT INTO removed_dead_letters (id, receivedAt) SELECT id, receivedAt FROM dead_letters
      WHERE identity IN (SELECT identity FROM dead_letters WHERE id IN (${wanted})) AND id NOT IN (SELECT id FROM removed_dead_letters)`,
  );
}

/** How many letters there are, and what they take. */
export function letterTotalsStatement(rowBytes: number): SqlStatement {
  return clickhouseStatement(sql`SELECT count(), sum(length(bytes) + length(reason) + ${int64(rowBytes)}) FROM ${KEPT}`);
}
