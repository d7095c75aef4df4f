import { move, transferableSymbol, valueSymbol } from 'piscina';
import type { EnvelopeFault, TakenApart } from '../doors/envelope.ts';
import { type EnvelopeName, takeApart } from '../doors/take-apart.ts';
import type { RecordValues } from '../event/event-kernel.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { type BatchPlace, type MappedPiece, type MappingTask, mapPiece, type RecordBatch } from './mapped-pieces.ts';

/** How records become events, and memory for these. */
type BodyMapping = Pick<RecordBatch, 'mapping' | 'zones'> & Pick<MappingTask, 'room'>;

/** The body of a door, which goes to the thread. */
export interface EnvelopeTask {
  readonly envelope: EnvelopeName;
  /** As `TakeApart` takes it. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Absent: the records are events of our own form. */
  readonly mapping?: BodyMapping;
}

/** A body that was taken apart, whose memory goes to the thread, to be mapped on. */
export interface RestTask {
  readonly rest: RecordValues;
  readonly from: BatchPlace;
  readonly mapping: BodyMapping;
}

/** Some of the records of a body that were mapped. */
export interface MappedBody {
  /** What becomes of them; null where no mapping is named. */
  readonly piece: MappedPiece | null;
  /** All records of the body; none once all are mapped. */
  readonly rest: RecordValues;
}

/** A body that was taken apart, with its first records mapped: of most bodies that is all of them. */
export interface TakenBody extends MappedBody, Pick<TakenApart, 'kind' | 'items'> {
  /** How many records it has. */
  readonly count: number;
}

/** What is done for records on threads: the envelopes of doors are taken apart, and records are mapped. */
export type RecordTask = MappingTask | EnvelopeTask | RestTask;
export type RecordResult = MappedPiece | TakenBody | EnvelopeFault | MappedBody;

/** `mappings` has each that a task names. */
export function carryOut(task: RecordTask, mappings: ReadonlyMap<string, Mapping>): RecordResult {
  if ('envelope' in task) return takeBody(task, mappings);
  if ('rest' in task) return mapBody(task, mappings);
  return mapPiece(task, mappings.get(task.batch.mapping)!);
}

function takeBody({ envelope, body, mapping }: EnvelopeTask, mappings: ReadonlyMap<string, Mapping>): TakenBody | EnvelopeFault {
  const taken = takeApart(envelope, body);
  if (taken.kind === 'fault') return taken;
  const { records, ...others } = taken;
  const first = { rest: records, from: { record: 0, outcome: 0 } };
  const mapped = mapping === undefined ? { piece: null, rest: records } : mapBody({ ...first, mapping }, mappings);
  return { ...others, count: records.count, ...mapped };
}

/** Maps records of a body until a piece is full. */
function mapBody({ rest, from, mapping: { room, ...how } }: RestTask, mappings: ReadonlyMap<string, Mapping>): MappedBody {
  const { bytes, starts, ends, count } = rest;
  const piece = mapPiece({ batch: { ...how, bytes, starts, ends }, from, room }, mappings.get(how.mapping)!);
  return { piece, rest: piece.next.record === count ? noRecords() : rest };
}

/** Made for each body, because their memory is transferred. */
function noRecords(): RecordValues {
  return { bytes: Buffer.allocUnsafeSlow(0), count: 0, starts: new Int32Array(0), ends: new Int32Array(0) };
}

/** The worker of a thread of `MappingThreads`: the memory of a body that is left, and what was found in it, is transferred back. */
export function startWork(mappings: ReadonlyMap<string, Mapping>): (task: RecordTask) => RecordResult {
  return (task) => {
    const result = carryOut(task, mappings);
    if (!('rest' in result)) return result;
    const { bytes, starts, ends } = result.rest;
    const items = 'items' in result ? result.items : undefined;
    const arrays = [bytes, starts, ends, items?.actions, items?.indices].filter((array) => array !== undefined);
    const memory = [...new Set(arrays.map(({ buffer }) => buffer))];
    return move({ [transferableSymbol]: memory, [valueSymbol]: result }) as unknown as MappedBody;
  };
}
