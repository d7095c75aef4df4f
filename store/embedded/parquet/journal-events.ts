import { fstatSync, readSync } from 'node:fs';
import { type ColumnMetaData, parquetMetadata, type SchemaElement } from 'hyparquet';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import { BATCH_COLUMNS, type BatchColumn } from '../../../query/batch-columns.ts';
import { LENGTH_BYTES } from '../../parquet/parquet-format.ts';
import { openedFile } from '../runtime/file-output.ts';
import { type Address, type SegmentKernel, TEXT_SIZE } from './segment-kernel.ts';

/** A column of a journal in the memory of the kernel. */
export interface JournalColumn {
  /** Which of the events have a value. `bits` is the address of one bit for each event, eight to a byte. */
  readonly present: 'all' | 'none' | { readonly bits: Address };
  /** The PLAIN values, back to back. */
  readonly values: Address;
  readonly end: Address;
}

/** The columns of a row group of a journal in the memory of the kernel. */
export interface JournalColumns {
  readonly path: string;
  readonly events: number;
  readonly columns: ReadonlyMap<string, JournalColumn>;
}

/**
 * Reads the file of a journal into the kernel's memory and finds the columns of its row groups there. Throws an error that names the file
 * where the file cannot be read or is not as `store/parquet/batch-file.ts` writes it.
 */
function readJournal(path: string, kernel: SegmentKernel): { readonly groups: JournalColumns[]; readonly bytes: number } {
  const { at, length } = readFile(path, kernel);
  try {
    const file = kernel.bytes(at, length);
    const { row_groups: groups, schema } = parquetMetadata(file);
    const elements = schema.slice(1);
    const read = groups.map(({ num_rows, columns }): JournalColumns => {
      const found = columns.map(({ meta_data: metadata }, index) => {
        const element = elements[index];
        if (metadata === undefined || element === undefined) {
          throw new Error('it has no page for each column');
        }
        return [element.name, columnIn(file, at, metadata, element)] as const;
      });
      return { path, events: Number(num_rows), columns: new Map(found) };
    });
    return { groups: read, bytes: length };
  } catch (error) {
    throw new Error(`journal ${JSON.stringify(path)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function readFile(path: string, kernel: SegmentKernel): { readonly at: Address; readonly length: number } {
  using file = openedFile(path);
  const { size } = fstatSync(file.descriptor);
  const at = kernel.allocate(size);
  const bytes = kernel.bytes(at, size);
  for (let done = 0; done < size; ) {
    const read = readSync(file.descriptor, bytes, done, size - done, done);
    if (read === 0) {
      throw new Error(`journal ${JSON.stringify(path)} ends at byte ${done} of ${size}`);
    }
    done += read;
  }
  return { at, length: size };
}

function columnIn(file: Buffer, fileAt: Address, metadata: ColumnMetaData, { name, repetition_type }: SchemaElement): JournalColumn {
  const start = Number(metadata.data_page_offset);
  const end = start + Number(metadata.total_compressed_size);
  const page = { view: new DataView(file.buffer, file.byteOffset, end), offset: start };
  // The fields are numbered as in the format's PageHeader.
  const { field_3: bytes } = deserializeTCompactProtocol(page);
  if (metadata.codec !== 'UNCOMPRESSED' || page.offset + bytes !== end || end > file.length) {
    throw new Error(`column ${name} is not one page, uncompressed`);
  }
  if (repetition_type === 'REQUIRED') {
    return { present: 'all', values: fileAt + page.offset, end: fileAt + end };
  }
  const levels = page.offset + LENGTH_BYTES;
  const values = levels + file.readUInt32LE(page.offset);
  return { present: presenceOf(file, levels, fileAt), values: fileAt + values, end: fileAt + end };
}

/** Reads definition levels that are one run: of bits, or of one level. */
function presenceOf(file: Buffer, levels: number, fileAt: Address): JournalColumn['present'] {
  let at = levels;
  const isBits = ((file[at] as number) & 1) === 1;
  while ((file[at] as number) >= 0x80) {
    at += 1;
  }
  if (isBits) {
    return { bits: fileAt + at + 1 };
  }
  return file[at + 1] === 0 ? 'none' : 'all';
}

/**
 * A column of events in the memory of the kernel. `entries` has four bytes for each event: the address of its value, or 0 where it has
 * none.
 */
interface AddressedColumn {
  readonly kind: 'addressed';
  readonly entries: Address;
}

/** A column of events whose `entries` number the distinct values from 1 on. `dictionary` has the addresses of the values. */
export interface NumberedColumn {
  readonly kind: 'numbered';
  readonly entries: Address;
  readonly dictionary: Address;
  /** Bytes of a value; unset for texts, each of which follows its length. */
  readonly size: number | undefined;
}

export type ValueColumn = AddressedColumn | NumberedColumn;

/** Columns in which hardly any value comes twice. */
const OWN_VALUES: readonly BatchColumn[] = ['logIdBytes', 'urlTail'];

const NUMBER_BYTES = { int32: 4, int64: 8, uint64: 8, text: undefined, bytes: undefined } as const;

/** The events of journals, one journal after the other, in the memory of the kernel. */
export class JournalEvents {
  readonly kernel: SegmentKernel;
  readonly count: number;
  /** At least the bytes of all values. */
  readonly valueBytes: number;
  /** The address of eight bytes for each event. */
  readonly sequences: Address;
  /** The address of eight bytes for each event: Unix milliseconds. */
  readonly timestamps: Address;
  /** The address of four bytes for each event. */
  readonly zones: Address;
  /** The address of a bit for each event. */
  readonly hasUppercaseOrNonAscii: Address;
  readonly #columns: ReadonlyMap<BatchColumn, ValueColumn>;

  /**
   * Overwrites the memory of the kernel. Throws an error that names the file of a journal that cannot be read or is not as journals are.
   */
  constructor(paths: readonly string[], kernel: SegmentKernel) {
    kernel.clear();
    this.kernel = kernel;
    const read = paths.map((path) => readJournal(path, kernel));
    const journals = read.flatMap(({ groups }) => groups);
    this.count = journals.reduce((sum, { events }) => sum + events, 0);
    this.valueBytes = read.reduce((sum, { bytes }) => sum + bytes, 0);
    this.sequences = joinNumbers(journals, 'seq', 8, kernel);
    this.timestamps = joinNumbers(journals, 'timestamp', 8, kernel);
    this.zones = joinNumbers(journals, 'shieldZoneId', 4, kernel);
    this.hasUppercaseOrNonAscii = joinBits(journals, 'unfolded', this.count, kernel);
    this.#columns = this.#findValues(journals);
  }

  /** Any of `BATCH_COLUMNS` but the timestamp. */
  column(name: BatchColumn): ValueColumn {
    return this.#columns.get(name) as ValueColumn;
  }

  #findValues(journals: readonly JournalColumns[]): Map<BatchColumn, ValueColumn> {
    const { count, kernel } = this;
    const slots = 2 ** Math.ceil(Math.log2(2 * count + 1));
    const table = kernel.allocate(4 * slots);
    const scratch = kernel.allocate(4 * count);
    const columns = new Map<BatchColumn, ValueColumn>();
    for (const { name, type, since } of BATCH_COLUMNS.filter((column) => column.name !== 'timestamp')) {
      const size = NUMBER_BYTES[type];
      const entries = kernel.allocate(4 * count);
      if (OWN_VALUES.includes(name)) {
        locateValues(journals, { name, since }, size, entries, kernel);
        columns.set(name, { kind: 'addressed', entries });
        continue;
      }
      locateValues(journals, { name, since }, size, scratch, kernel);
      const dictionary = kernel.allocate(4 * (count + 1));
      kernel.run.internValues(scratch, size ?? TEXT_SIZE, count, entries, dictionary, table, slots);
      columns.set(name, { kind: 'numbered', entries, dictionary, size });
    }
    return columns;
  }
}

/** Stands for a column of a field that is newer than the journal. */
const MISSING: JournalColumn = { present: 'none', values: 0, end: 0 };

/** Throws where the journal lacks a column that every journal has: one of a field of version `since` 1. */
function columnOf({ path, columns }: JournalColumns, name: string, since = 1): JournalColumn {
  const column = columns.get(name);
  if (column === undefined && since === 1) {
    throw new Error(`journal ${JSON.stringify(path)} has no column ${name}`);
  }
  return column ?? MISSING;
}

/** A column in which every event has a value. */
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

/** Writes the address of the value of each event. */
function locateValues(
  journals: readonly JournalColumns[],
  { name, since }: Pick<(typeof BATCH_COLUMNS)[number], 'name' | 'since'>,
  size: number | undefined,
  addresses: Address,
  kernel: SegmentKernel,
): void {
  let at = addresses;
  for (const journal of journals) {
    const { present, values, end } = columnOf(journal, name, since);
    const { events, path } = journal;
    const bits = typeof present === 'object' ? present.bits : 0;
    if (present === 'none') {
      kernel.bytes(at, 4 * events).fill(0);
    } else {
      const reached =
        size === undefined
          ? kernel.run.locateTexts(values, end, bits, events, at)
          : kernel.run.locateNumbers(values, size, bits, events, at);
      if (reached !== end) {
        throw new Error(`journal ${JSON.stringify(path)}: the values of ${name} do not end where its column does`);
      }
    }
    at += 4 * events;
  }
}
