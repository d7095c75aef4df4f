import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { EnvelopeFault, TakenApart } from '../doors/envelope.ts';
import { type EnvelopeName, takeApart } from '../doors/take-apart.ts';
import type { RecordValues } from '../event/event-kernel.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { type MappedPiece, type MappingTask, mapPiece, type RecordBatch, wholeRecordsOf } from './mapped-pieces.ts';

/** The body of a door, with memory for what becomes of its records. */
export interface EnvelopeTask {
  readonly envelope: EnvelopeName;
  /** As `TakeApart` takes it. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** How its records become events, and memory for these. Absent: they are events of our own form. */
  readonly mapping?: Pick<RecordBatch, 'mapping' | 'zones'> & Pick<MappingTask, 'room'>;
}

/** A body that was taken apart. */
export interface TakenBody extends Pick<TakenApart, 'kind' | 'items'> {
  /** How many records it has. */
  readonly count: number;
  /** What becomes of the first of them, where a mapping is named. */
  readonly first: MappedPiece | null;
  /** The others. */
  readonly rest: RecordValues;
}

/** What is done for records on threads: the envelopes of doors are taken apart, and records are mapped. */
export type RecordTask = MappingTask | EnvelopeTask;
export type RecordResult = MappedPiece | TakenBody | EnvelopeFault;

/** `mappings` has each that a task names. */
export function carryOut(task: RecordTask, mappings: ReadonlyMap<string, Mapping>): RecordResult {
  return 'envelope' in task ? takeBody(task, mappings) : mapPiece(task, mappings.get(task.batch.mapping)!);
}

/** Takes a body apart, and maps its first records until a piece is full: of most bodies that is all of them. */
function takeBody({ envelope, body, mapping }: EnvelopeTask, mappings: ReadonlyMap<string, Mapping>): TakenBody | EnvelopeFault {
  const taken = takeApart(envelope, body);
  if (taken.kind === 'fault') return taken;
  const { records, ...rest } = taken;
  const { bytes, count, starts, ends } = records;
  if (mapping === undefined) return { ...rest, count, first: null, rest: records };
  const { room, ...how } = mapping;
  const task = { batch: { ...how, bytes, starts, ends }, from: { record: 0, outcome: 0 }, room };
  const first = wholeRecordsOf(mapPiece(task, mappings.get(how.mapping)!));
  const { record } = first.next;
  const left = record === count ? noRecords() : { bytes, count: count - record, starts: starts.slice(record), ends: ends.slice(record) };
  return { ...rest, count, first, rest: left };
}

/** Made for each body, because their memory is transferred. */
function noRecords(): RecordValues {
  return { bytes: Buffer.allocUnsafeSlow(0), count: 0, starts: new Int32Array(0), ends: new Int32Array(0) };
}

/** The worker of a thread of `MappingThreads`: the bytes of a body that are left, and what was found in them, are transferred back. */
export function startWork(mappings: ReadonlyMap<string, Mapping>): (task: RecordTask) => RecordResult {
  return (task) => {
    const result = carryOut(task, mappings);
    if (!('rest' in result)) return result;
    const { bytes, starts, ends } = result.rest;
    const { actions, indices } = result.items ?? {};
    const arrays = [bytes, starts, ends, actions, indices].filter((array) => array !== undefined);
    const memory = [...new Set(arrays.map(({ buffer }) => buffer))];
    return move({ [transferableSymbol]: memory, [valueSymbol]: result }) as unknown as TakenBody;
  };
}
