import { DatabaseSync } from 'node:sqlite';

// Runs in a program, before it (`node --import`): the first commit of an empty journal is carried out and fails all the same, as where the
// disk fails to sync it.

const IO_ERROR_AT_SYNC = 1_034;

const { exec, prepare } = DatabaseSync.prototype;
let isNext = false;

DatabaseSync.prototype.prepare = function (...values) {
  isNext ||= values[0].includes('INSERT INTO empty_journals');
  return prepare.apply(this, values);
};

DatabaseSync.prototype.exec = function (sql) {
  exec.call(this, sql);
  if (isNext && sql === 'COMMIT') throw Object.assign(new Error('disk I/O error'), { errcode: IO_ERROR_AT_SYNC });
};
