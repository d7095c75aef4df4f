import { describe, expect, test } from 'vitest';
import {
  blobFileName,
  isBlobFile,
  isRecycled,
  journalFileNames,
  journalOfFile,
  mayBeOfJournal,
  mergedAtMs,
  nameOfLost,
  nameOfLostBlobFile,
  recycledName,
  segmentFileName,
  stemOfFlush,
  stemOfMerge,
  TEMPORARY,
  writtenFile,
} from '../../../../store/embedded/segment/file-names.ts';
import { setAsideAt, setAsideName } from '../../../../store/set-aside.ts';

const AT_MS = Date.UTC(2026, 10, 3, 9);
const OF_FLUSH = segmentFileName(stemOfFlush(12, AT_MS), 0);
const OF_MERGE = segmentFileName(stemOfMerge(7, AT_MS), 10);
const LOGS = blobFileName(stemOfFlush(12, AT_MS));

test.each([1, 471_200, 1_234_567_890_123])('the files of journal %i are found by their names again', (number) => {
  const names = journalFileNames(number);
  expect(names.map((name) => name.slice(name.indexOf('.')))).toEqual(['.parquet', '.logs']);
  expect(names.map(journalOfFile)).toEqual([number, number]);
  expect(names.every(mayBeOfJournal)).toBe(true);
});

test('the names of journals are in the order of their numbers', () => {
  const names = [2, 10, 9_999].flatMap(journalFileNames).filter((name) => name.endsWith('.logs'));
  expect(names.toSorted()).toEqual(names);
});

test.each(['1.parquet', '000000000001.parquet.tmp', '000000000001', '00000000001x.logs', 'recycled-1', 'damaged-5-000000000001.logs'])(
  '%s is no file of a journal',
  (name) => expect(journalOfFile(name)).toBeUndefined(),
);

test('what is set aside or kept for later journals has a name that tells, and is of no journal', () => {
  const [name = ''] = journalFileNames(3);
  expect(setAsideAt(setAsideName(name, AT_MS))).toBe(AT_MS);
  expect([name, recycledName(3)].map(setAsideAt)).toEqual([undefined, undefined]);
  expect([name, recycledName(3), setAsideName(name, AT_MS)].map(isRecycled)).toEqual([false, true, false]);
  expect([recycledName(3), setAsideName(name, AT_MS)].some(mayBeOfJournal)).toBe(false);
});

describe('a file of the segments folder', () => {
  const cases = [
    { name: OF_FLUSH, from: 'journal', number: 12, isLogs: false, merged: 0 },
    { name: LOGS, from: 'journal', number: 12, isLogs: true, merged: 0 },
    { name: OF_MERGE, from: 'segment', number: 7, isLogs: false, merged: AT_MS },
    { name: nameOfLost(5), from: 'journal', number: 5, isLogs: false, merged: 0 },
    { name: nameOfLostBlobFile(5), from: 'journal', number: 5, isLogs: true, merged: 0 },
  ] as const;

  test.each(cases)('$name tells what wrote it', ({ name, from, number, isLogs, merged }) => {
    expect(writtenFile(name)).toEqual({ name, from, number, isTemporary: false });
    expect(writtenFile(`${name}${TEMPORARY}`)).toEqual({ name: `${name}${TEMPORARY}`, from, number, isTemporary: true });
    expect(isBlobFile(name)).toBe(isLogs);
    expect(mergedAtMs(name)).toBe(merged);
  });

  test('keeps the names that earlier versions gave', () => {
    expect([OF_FLUSH, LOGS, OF_MERGE]).toEqual(['j12-mw0giw00-0.parquet', 'j12-mw0giw00-log.parquet', 'c7-mw0giw00-10.parquet']);
    expect([nameOfLost(5), nameOfLostBlobFile(5)]).toEqual(['j5-lost.parquet', 'j5-lost-log.parquet']);
  });

  test.each([
    'events.parquet',
    'j-1-0.parquet',
    'x1-a-0.parquet',
    'j1.parquet',
    'j1-../a.parquet',
    'j1-a-0.parquet.tmp.tmp',
    'J1-a-0.parquet',
  ])('%s is none that the store writes', (name) => expect(writtenFile(name)).toBeUndefined());
});
