import { BATCH_COLUMNS, type BatchColumn } from '../../../query/batch-columns.ts';
import { type JournalColumn, type JournalColumns, readJournalColumns } from './journal-columns.ts';
import type { Address, SegmentKernel } from './segment-kernel.ts';

/**
 * A column of events in the memory of the kernel: at `entries` four bytes for each event, 0 where it has no value, else the place of its
 * value.
 */
interface PlacedColumn {
  readonly kind: 'placed';
  readonly entries: Address;
}

/** The same with numbers of values from 1 on instead: at `dictionary` are the places of the values that they stand for. */
export interface NumberedColumn {
  readonly kind: 'numbered';
  readonly entries: Address;
  readonly dictionary: Address;
  /** Bytes of a value; unset for texts, each of which is behind its length. */
  readonly size: number | undefined;
}

export type ValueColumn = PlacedColumn | NumberedColumn;

/** Hardly any event shares these with another. */
const OWN_VALUES: readonly BatchColumn[] = ['logIdBytes', 'urlTail'];

const NUMBER_BYTES = { int32: 4, int64: 8, uint64: 8, text: undefined, bytes: undefined } as const;

/** The events of journals, one journal behind the other, in the memory of the kernel. */
export class JournalEvents {
  readonly kernel: SegmentKernel;
  readonly count: number;
  /** No less than all values have. */
  readonly valueBytes: number;
  /** Eight bytes for each event. */
  readonly sequences: Address;
  /** Unix milliseconds, eight bytes for each event. */
  readonly timestamps: Address;
  /** Four bytes for each event. */
  readonly zones: Address;
  /** A bit for each event. */
  readonly hasUppercaseOrNonAscii: Address;
  readonly #columns: ReadonlyMap<BatchColumn, ValueColumn>;

  /**
   * The kernel's memory is taken from whatever was in it. Throws what names the file where one cannot be read or is not as journals are.
   */
  constructor(paths: readonly string[], kernel: SegmentKernel) {
    kernel.clear();
    this.kernel = kernel;
    const journals = paths.map((path) => readJournalColumns(path, kernel));
    this.count = journals.reduce((sum, { events }) => sum + events, 0);
    this.valueBytes = journals.reduce((sum, { bytes }) => sum + bytes, 0);
    this.sequences = joinNumbers(journals, 'seq', 8, kernel);
    this.timestamps = joinNumbers(journals, 'timestamp', 8, kernel);
    this.zones = joinNumbers(journals, 'shieldZoneId', 4, kernel);
    this.hasUppercaseOrNonAscii = joinBits(journals, 'unfolded', this.count, kernel);
    this.#columns = this.#findValues(journals);
  }

  /** One of `BATCH_COLUMNS`, but not the timestamp. */
  column(name: BatchColumn): ValueColumn {
    return this.#columns.get(name) as ValueColumn;
  }

  #findValues(journals: readonly JournalColumns[]): Map<BatchColumn, ValueColumn> {
    const { count, kernel } = this;
    const slots = 2 ** Math.ceil(Math.log2(2 * count + 1));
    const table = kernel.allocate(4 * slots);
    const scratch = kernel.allocate(4 * count);
    const columns = new Map<BatchColumn, ValueColumn>();
    for (const { name, type } of BATCH_COLUMNS.filter((column) => column.name !== 'timestamp')) {
      const size = NUMBER_BYTES[type];
      const entries = kernel.allocate(4 * count);
      if (OWN_VALUES.includes(name)) {
        placeValues(journals, name, size, entries, kernel);
        columns.set(name, { kind: 'placed', entries });
        continue;
      }
      placeValues(journals, name, size, scratch, kernel);
      const dictionary = kernel.allocate(4 * (count + 1));
      kernel.run.internValues(scratch, size ?? 0, count, entries, dictionary, table, slots);
      columns.set(name, { kind: 'numbered', entries, dictionary, size });
    }
    return columns;
  }
}

function columnOf({ path, columns }: JournalColumns, name: string): JournalColumn {
  const column = columns.get(name);
  if (column === undefined) {
    throw new Error(`journal ${JSON.stringify(path)} has no column ${name}`);
  }
  return column;
}

/** Of a column in which every event has a value. */
function requiredColumn(journal: JournalColumns, name: string, bytes: number): JournalColumn {
  const column = columnOf(journal, name);
  if (column.present !== 'all' || column.end - column.values !== bytes) {
    throw new Error(`journal ${JSON.stringify(journal.path)} has no value of ${name} for each of its ${journal.events} events`);
  }
  return column;
}

function joinNumbers(journals: readonly JournalColumns[], name: string, size: number, kernel: SegmentKernel): Address {
  const at = kernel.allocate(size * journals.reduce((sum, { events }) => sum + events, 0));
  let end = at;
  for (const journal of journals) {
    const bytes = size * journal.events;
    const { values } = requiredColumn(journal, name, bytes);
    kernel.bytes(values, bytes).copy(kernel.bytes(end, bytes));
    end += bytes;
  }
  return at;
}

function joinBits(journals: readonly JournalColumns[], name: string, count: number, kernel: SegmentKernel): Address {
  const bytes = Math.ceil(count / 8);
  const at = kernel.allocate(bytes);
  kernel.bytes(at, bytes).fill(0);
  let first = 0;
  for (const journal of journals) {
    const { values } = requiredColumn(journal, name, Math.ceil(journal.events / 8));
    kernel.run.appendBits(values, journal.events, at, first);
    first += journal.events;
  }
  return at;
}

/** Notes for each event the place of its value. */
function placeValues(
  journals: readonly JournalColumns[],
  name: BatchColumn,
  size: number | undefined,
  places: Address,
  kernel: SegmentKernel,
): void {
  let at = places;
  for (const journal of journals) {
    const { present, values, end } = columnOf(journal, name);
    const { events, path } = journal;
    const bits = typeof present === 'object' ? present.bits : 0;
    if (present === 'none') {
      kernel.bytes(at, 4 * events).fill(0);
    } else {
      const reached =
        size === undefined ? kernel.run.placeTexts(values, end, bits, events, at) : kernel.run.placeNumbers(values, size, bits, events, at);
      if (reached !== end) {
        throw new Error(`journal ${JSON.stringify(path)}: the values of ${name} do not end where its column does`);
      }
    }
    at += 4 * events;
  }
}
