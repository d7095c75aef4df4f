import { existsSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import type { JsonLimits } from '../../query/exact-json.ts';
import { INT64 } from '../../query/integer-ranges.ts';
import { BODY, ErrorList } from '../../query/request/request-errors.ts';
import { readInteger, readJson, readList, readObject, readText } from '../../query/request/wire-readers.ts';
import { copyDatabase } from '../../store/database-copy.ts';
import type { BackupFile, EventStore, StoreBackup } from '../../store/event-store.ts';
import type { MainThreadTurns } from '../../work/main-thread-turns.ts';
import { callerOf, requireEveryZone } from '../auth/access.ts';
import type { AnswerPart } from '../http/answer-writes.ts';
import { beginAnswer } from '../http/begin-answer.ts';
import type { BodyMemory } from '../http/body-memory.ts';
import { requireJsonBody } from '../http/content-negotiation.ts';
import { invalidRequest } from '../http/problem.ts';
import { takeWholeBodies, wholeBody } from '../http/request-body.ts';
import { readQuery } from '../http/request-parameters.ts';
import { BACKUP_TYPE, MAX_BACKUP_FILES } from '../openapi/openapi-backup.ts';

export interface BackupRoutesOptions {
  readonly store: Pick<EventStore, 'beginBackup'>;
  readonly turns: MainThreadTurns;
  /** The paths of the other databases in DATA_DIR, which may not be there. */
  readonly stateFiles: readonly string[];
  /** The path of the state of alerts. Its cursor may not be ahead of the events of the backup, which would be counted twice. */
  readonly alertState?: string;
  /** How long a reader may take no byte, in milliseconds. Until then its backup holds files that were merged meanwhile. */
  readonly idleMs: number;
  readonly bodies: BodyMemory;
}

/** Some two hundred thousand names. */
export const BACKUP_BODY_BYTES = 16 * 1024 * 1024;
const BODY_LIMITS: JsonLimits = { depth: 4, values: 4 * MAX_BACKUP_FILES };
const SIZES = { min: 0n, max: INT64.max };

const CHUNK_BYTES = 256 * 1024;

/** Reads which files the folder of the backup has already, by name and size. Throws RequestProblem `request.invalid`. */
function readBackupRequest(body: Uint8Array): ReadonlyMap<string, number> {
  const errors = new ErrorList();
  const object = readObject(readJson(body, BODY_LIMITS, errors), BODY, ['files'], errors);
  const list = object && readList(object.get('files') ?? null, 'files', { of: 'files', max: MAX_BACKUP_FILES }, errors);
  const files = new Map<string, number>();
  for (const [index, element] of (list ?? []).entries()) {
    const file = readObject(element, `files[${index}]`, ['name', 'bytes'], errors);
    const name = file && readText(file.get('name') ?? null, `files[${index}].name`, errors);
    const bytes = file && readInteger(file.get('bytes'), `files[${index}].bytes`, SIZES, errors);
    if (name !== undefined && bytes !== undefined) files.set(name, Number(bytes));
  }
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return files;
}

/** Refuses what the headers alone make wrong. A key has to open every zone: a backup has all events, and the control plane's secrets. */
async function validateCall(request: FastifyRequest): Promise<void> {
  requireEveryZone(callerOf(request));
  readQuery(request.query, {});
  requireJsonBody(request.headers);
}

async function copyState(files: readonly string[], { copies }: StoreBackup): Promise<readonly BackupFile[]> {
  const copied: BackupFile[] = [];
  for (const file of files.filter((path) => existsSync(path))) {
    const [name, path] = [basename(file), join(copies, basename(file))];
    await copyDatabase(file, path);
    copied.push({ name, bytes: (await stat(path)).size, path });
  }
  return copied;
}

async function* contentOf({ path, bytes }: BackupFile): AsyncGenerator<readonly Buffer[]> {
  await using file: FileHandle = await open(path);
  for (let position = 0; position < bytes; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes - position)), { position });
    if (bytesRead === 0) throw new Error(`${JSON.stringify(path)} ends after ${position} of ${bytes} bytes`);
    yield [buffer.subarray(0, bytesRead)];
    position += bytesRead;
  }
}

/** A line that names all files, the bytes of those that are lacking, one file after the other, and a line that says that it is whole. */
async function* backupText(
  { storeId, events, published, databases }: StoreBackup,
  there: ReadonlyMap<string, number>,
  giveBack: () => Promise<void>,
): AsyncGenerator<readonly AnswerPart[]> {
  const files = [...published, ...databases];
  const isLacking = ({ name, bytes }: BackupFile) => there.get(name) !== bytes;
  const named = files.map((file) => ({ name: file.name, bytes: file.bytes, sent: isLacking(file) }));
  yield [`${JSON.stringify({ store: storeId, events, files: named })}\n`];
  for (const file of files.filter(isLacking)) yield* contentOf(file);
  // A reader of the last line may ask for another backup.
  await giveBack();
  yield ['{"whole":true}\n'];
}

/** `POST /backup`: the files of one moment that a folder lacks, those of the databases last. */
export async function backupRoutes(app: FastifyInstance, options: BackupRoutesOptions): Promise<void> {
  const { turns, idleMs, bodies } = options;
  takeWholeBodies(app, bodies);
  const route = { config: { needsScope: 'admin' }, bodyLimit: BACKUP_BODY_BYTES, onRequest: validateCall } as const;
  app.post('/backup', route, async (request, reply) => {
    const there = readBackupRequest(wholeBody(request));
    const backup = await begin(options);
    const published = new Map(backup.published.map(({ name, bytes }) => [name, bytes]));
    // A database has its name again at every backup.
    const known = new Map([...there].filter(([name]) => published.has(name)));
    const giveBack = givenBackOnce(backup, request.log);
    const read = () => backupText(backup, known, giveBack);
    const answer = await beginAnswer({ turns, reply, what: 'a backup', read, idleMs, onEnd: giveBack });
    return reply.type(BACKUP_TYPE).header('cache-control', 'no-store').send(answer);
  });
}

/** Returns a function that gives the files of the backup back, at its first call. It never rejects. */
function givenBackOnce(backup: StoreBackup, log: FastifyBaseLogger): () => Promise<void> {
  let given: Promise<void> | undefined;
  const giveBack = async (): Promise<void> => {
    try {
      await backup[Symbol.asyncDispose]();
    } catch (error) {
      log.error({ err: error }, 'the copies that a backup made cannot be removed; the next one removes them');
    }
  };
  return () => {
    given ??= giveBack();
    return given;
  };
}

/** Begins a backup with copies of the other databases. Throws StoreError. */
async function begin({ store, stateFiles, alertState }: BackupRoutesOptions): Promise<StoreBackup> {
  let backup: StoreBackup | undefined;
  try {
    backup = await store.beginBackup(alertState === undefined ? [] : [alertState]);
    const state = await copyState(stateFiles, backup);
    return { ...backup, databases: [...state, ...backup.databases] };
  } catch (error) {
    await backup?.[Symbol.asyncDispose]();
    throw error;
  }
}
