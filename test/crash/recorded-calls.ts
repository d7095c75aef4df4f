import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { type RecordedCall, Recording } from './recording.ts';

// Replaces the functions by which the program changes files, for all recordings of this process. The program has no line of it.
// Nothing puts them back, so files of tests that import this have a process of their own.

type Call = (...values: unknown[]) => unknown;

/** What a function does to a recording, given its arguments. */
type PathEffect = (recording: Recording, paths: readonly string[], values: readonly unknown[]) => Pick<RecordedCall, 'changes' | 'record'>;
type FileEffect = (opened: Opened, values: readonly unknown[], call: Call) => Omit<RecordedCall, 'name' | 'path' | 'run'>;

/** An open file of a recording, or an open folder, which is no file. */
interface Opened {
  readonly recording: Recording;
  readonly path: string;
  readonly file: number | undefined;
  /** Whether it is open as a number, for calls that wait for the disk. */
  readonly isDescriptor: boolean;
  /** Where a write without an offset begins. */
  position: number;
}

const handles = new WeakMap<object, Opened>();
const descriptors = new Map<number, Opened>();

const PATH_EFFECTS: Readonly<Record<string, PathEffect>> = {
  mkdir: (recording, [path = '']) => ({ changes: true, record: () => recording.operations.push({ kind: 'make folder', path }) }),
  unlink: (recording, [path = '']) => ({ changes: true, record: () => recording.removed(path) }),
  rm: (recording, [path = '']) => ({ changes: true, record: () => recording.removed(path) }),
  rename: (recording, [from = '', to = '']) => ({ changes: true, record: () => recording.renamed(from, to) }),
  open: (recording, [path = ''], [, flags = 'r']) => ({
    changes: /[wax]/.test(String(flags)),
    record: (result) => {
      const isDescriptor = typeof result === 'number';
      const opened = { recording, path, file: recording.opened(path, String(flags)), position: 0, isDescriptor };
      if (isDescriptor) descriptors.set(result, opened);
      else handles.set(result as object, opened);
    },
  }),
};

const FILE_EFFECTS: Readonly<Record<'writev' | 'truncate' | 'sync' | 'datasync', FileEffect>> = {
  writev: (opened, [chunks, position, ...more], call) => {
    const bytes = Buffer.concat(chunks as readonly Uint8Array[]);
    const offset = typeof position === 'number' ? position : opened.position;
    return {
      changes: true,
      record: (result) => {
        const length = typeof result === 'number' ? result : (result as { bytesWritten: number }).bytesWritten;
        opened.position = offset + length;
        opened.recording.operations.push({ kind: 'write', file: fileOf(opened), offset, bytes: bytes.subarray(0, length) });
      },
      runToFailure: () => call([bytes.subarray(0, bytes.length / 2)], position, ...more),
    };
  },
  truncate: (opened, [size = 0]) => ({
    changes: true,
    record: () => opened.recording.operations.push({ kind: 'cut', file: fileOf(opened), size: Number(size) }),
  }),
  sync: syncEffect,
  datasync: syncEffect,
};

function syncEffect({ recording, path, file }: Opened): ReturnType<FileEffect> {
  const sync = { path, after: recording.operations.length, place: placeInStore() };
  let hasFailed = false;
  return {
    changes: true,
    record: () => {
      if (hasFailed) recording.operations.push({ kind: 'failed sync', file, ...sync });
      else recording.operations.push(file === undefined ? { kind: 'sync folder', ...sync } : { kind: 'sync file', file, ...sync });
    },
    runToFailure: () => {
      hasFailed = true;
    },
  };
}

function fileOf({ file, path }: Opened): number {
  if (file === undefined) {
    throw new Error(`${path} is written to, and is a folder`);
  }
  return file;
}

/** The functions of the store that are under way, the innermost first. */
function placeInStore(): string[] {
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  const { stack = '' } = new Error('where a sync is called');
  Error.stackTraceLimit = usual;
  const frames = stack.split('\n').filter((frame) => frame.includes('/store/') && !frame.includes('/test/'));
  return frames.map((frame) => /at (?:async )?(\S+)/.exec(frame)?.[1] ?? frame);
}

/** Replaces a function. `around` gets the call that it stands for, and what it is called on. */
function replace(target: object, name: string, around: (call: Call, values: readonly unknown[], self: object) => unknown): void {
  const original = Reflect.get(target, name) as Call;
  Reflect.set(target, name, function (this: object, ...values: unknown[]) {
    return around((...given) => original.apply(this, given), values, this);
  });
}

function recordingOf(path: unknown): Recording | undefined {
  return [...Recording.active].find((recording) => recording.pathOf(path) !== undefined);
}

function onPath(name: string, effect: PathEffect, isAsync: boolean): (call: Call, values: readonly unknown[]) => unknown {
  return (call, values) => {
    const recording = recordingOf(values[0]);
    if (recording === undefined) {
      return call(...values);
    }
    const paths = values.slice(0, 2).map((path) => recording.pathOf(path) ?? '');
    const recorded = { name, path: paths[0] ?? '', run: () => call(...values), ...effect(recording, paths, values) };
    return isAsync ? recording.performInTurn(recorded) : recording.perform(recorded);
  };
}

function onFile(name: string, effect: FileEffect, opened: Opened | undefined, call: Call, values: readonly unknown[]): unknown {
  if (opened === undefined || !Recording.active.has(opened.recording)) {
    return call(...values);
  }
  const { recording, path, isDescriptor } = opened;
  const recorded = { name, path, run: () => call(...values), ...effect(opened, values, call) };
  return isDescriptor ? recording.perform(recorded) : recording.performInTurn(recorded);
}

/** Calls that the store does not make, so that none goes by unrecorded. */
const NOT_RECORDED = {
  paths: ['writeFile', 'appendFile', 'copyFile', 'cp', 'truncate', 'rmdir', 'symlink'],
  handles: ['write', 'writeFile', 'appendFile'],
};

function refuse(name: string, isRecorded: boolean): void {
  if (isRecorded) throw new Error(`${name}: no recording knows what that does`);
}

for (const [name, effect] of Object.entries(PATH_EFFECTS)) {
  replace(fs, `${name}Sync`, onPath(name, effect, false));
  replace(promises, name, onPath(name, effect, true));
}
for (const name of NOT_RECORDED.paths) {
  const around = (call: Call, values: readonly unknown[]): unknown => {
    refuse(
      name,
      values.slice(0, 2).some((value) => recordingOf(value) !== undefined),
    );
    return call(...values);
  };
  replace(fs, `${name}Sync`, around);
  replace(promises, name, around);
}
for (const [name, descriptorCall] of [
  ['writev', 'writevSync'],
  ['truncate', 'ftruncateSync'],
  ['sync', 'fsyncSync'],
  ['datasync', 'fdatasyncSync'],
] as const) {
  replace(fs, descriptorCall, (call, [descriptor, ...values]) =>
    onFile(name, FILE_EFFECTS[name], descriptors.get(descriptor as number), (...given) => call(descriptor, ...given), values),
  );
}
replace(fs, 'closeSync', (call, values) => {
  descriptors.delete(values[0] as number);
  return call(...values);
});
const someHandle = await promises.open(import.meta.filename);
for (const [name, effect] of Object.entries(FILE_EFFECTS)) {
  replace(Object.getPrototypeOf(someHandle) as object, name, (call, values, self) => onFile(name, effect, handles.get(self), call, values));
}
for (const name of NOT_RECORDED.handles) {
  replace(Object.getPrototypeOf(someHandle) as object, name, (call, values, self) => {
    refuse(name, handles.has(self));
    return call(...values);
  });
}
replace(fs, 'writeSync', (call, values) => {
  refuse('writeSync', descriptors.has(values[0] as number));
  return call(...values);
});
await someHandle.close();
for (const [target, name] of [
  [DatabaseSync.prototype, 'exec'],
  [DatabaseSync.prototype, 'close'],
  [StatementSync.prototype, 'run'],
] as const) {
  replace(target, name, (call, values) => {
    const result = call(...values);
    for (const recording of Recording.active) recording.watchSqlite();
    return result;
  });
}
syncBuiltinESMExports();
