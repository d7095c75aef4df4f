import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { BlobFile } from '../segment/blob-file.ts';
import type { UnpublishedSegment } from '../segment/segment.ts';

/** The CRC-32 of a segment's row in the catalog, with its zones. */
export function segmentChecksum(segment: UnpublishedSegment): number {
  const { file, rows, bytes, minTimestamp, maxTimestamp, minSequence, maxSequence, zoneRows, blocks, damage } = segment;
  const values = [file, rows, bytes, minTimestamp, maxTimestamp, String(minSequence), String(maxSequence), damage ?? null];
  const zones = Float64Array.from([...zoneRows].sort(([a], [b]) => a - b).flat());
  return [asBytes(zones), ...(blocks === undefined ? [] : [blocks])].reduce(
    (checksum, part) => crc32(part, checksum),
    crc32(JSON.stringify(values)),
  );
}

/** The CRC-32 of a blob file's row in the catalog. */
export function blobFileChecksum(blobFile: BlobFile): number {
  const { number, file, rows, bytes, minSequence, maxSequence, textBytes, ingestTimes, indexCrc32, damage } = blobFile;
  const values = [number, file, rows, bytes, String(minSequence), String(maxSequence), textBytes, indexCrc32 ?? null, damage ?? null];
  return crc32(ingestTimes, crc32(JSON.stringify(values)));
}

/** The row of `progress` that has the checksum of the others. */
const CHECKSUM = 'checksum';

/** The statements whose rows the checksum covers. */
const STATE = [
  `SELECT json_array(name, value) AS row FROM progress WHERE name <> '${CHECKSUM}' ORDER BY name`,
  'SELECT json_array(topic, partition, next_offset, topic_id) AS row FROM source_offsets ORDER BY topic, partition',
  'SELECT json_array(zone_id, run, sequence) AS row FROM expired_watermarks ORDER BY zone_id, run',
  'SELECT json_array(number, epoch, first_sequence, runs) AS row FROM epochs ORDER BY number',
];

function stateChecksum(database: DatabaseSync): number {
  return STATE.flatMap((select) => database.prepare(select).all()).reduce((checksum, { row }) => crc32(String(row), checksum), 0);
}

/** Writes the checksum of progress, source offsets, watermarks and epochs. The caller has begun the transaction that changes them. */
export function writeStateChecksum(database: DatabaseSync): void {
  database.prepare('INSERT OR REPLACE INTO progress (name, value) VALUES (?, ?)').run(CHECKSUM, stateChecksum(database));
}

/** Whether progress, source offsets, watermarks and epochs are as they were written; true where no change has written a checksum yet. */
export function hasItsState(database: DatabaseSync): boolean {
  const written = database.prepare('SELECT value FROM progress WHERE name = ?').get(CHECKSUM)?.['value'];
  return written === undefined || written === stateChecksum(database);
}

/** The row of `progress` of a backup, until a start has removed what belongs to a later one that was not completed. */
const BACKUP = 'is_backup';

/** Says that the catalog is that of a backup. Files that it does not name were copied for a later one. */
export function markAsBackup(database: DatabaseSync): void {
  database.prepare('INSERT OR REPLACE INTO progress (name, value) VALUES (?, 1)').run(BACKUP);
  writeStateChecksum(database);
}

export function isBackup(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM progress WHERE name = ?').get(BACKUP) !== undefined;
}

/** Takes the mark away. The caller has begun a transaction. */
export function unmarkAsBackup(database: DatabaseSync): void {
  database.prepare('DELETE FROM progress WHERE name = ?').run(BACKUP);
  writeStateChecksum(database);
}

function asBytes({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
