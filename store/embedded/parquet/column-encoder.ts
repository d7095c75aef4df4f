import type { ColumnMetaData } from 'hyparquet';
import { BATCH_COLUMNS, type BatchColumn } from '../../../query/batch-columns.ts';
import { VECTOR_COLUMN_BYTES } from '../../../sql/segment-layout.ts';
import type { JournalEvents, NumberedColumn } from './journal-events.ts';
import type { Address, SegmentKernel } from './segment-kernel.ts';

/** The pages of a column in a row group, without their headers. The bytes stay unchanged until the next row group begins. */
export interface ColumnPages {
  readonly encoding: ColumnMetaData['encodings'][number];
  readonly data: Buffer;
  /** The distinct values, where `data` has their indices. */
  readonly dictionary?: { readonly bytes: Buffer; readonly values: number };
  /** The minimum and the maximum of numbers. */
  readonly bounds?: { readonly min_value: bigint | number; readonly max_value: bigint | number };
}

/** More bytes than a row takes in all columns, without its values. */
const BYTES_BESIDE_VALUES = 256;

const TEXT_COLUMNS = BATCH_COLUMNS.filter(({ type }) => type === 'text').map(({ name }) => name);

/** More bytes than a row group takes, without its rows. */
const BYTES_BESIDE_ROWS = 16 * 1024;

/**
 * Encodes columns of events, a row group at a time. It uses dictionaries and differences but no compression: fresh segments are searched
 * often, and are merged within hours.
 */
export class ColumnEncoder {
  readonly #events: JournalEvents;
  readonly #kernel: SegmentKernel;
  /** Room for four bytes for each row: the events, their entries in a column, the values in use. */
  readonly #order: Address;
  readonly #entries: Address;
  readonly #used: Address;
  /** Room for eight bytes for each row. */
  readonly #wide: Address;
  /** Four bytes for each value of a column. All are 0 while no column is encoded. */
  readonly #numbers: Address;
  readonly #pages: Address;
  /** The end of the pages of the row group. */
  #end: Address;
  #rows = 0;

  constructor(events: JournalEvents) {
    const { kernel, count, valueBytes } = events;
    this.#events = events;
    this.#kernel = kernel;
    this.#order = kernel.allocate(4 * count);
    this.#entries = kernel.allocate(4 * count);
    this.#used = kernel.allocate(4 * count);
    this.#wide = kernel.allocate(8 * count);
    this.#numbers = kernel.allocate(4 * (count + 1));
    kernel.bytes(this.#numbers, 4 * (count + 1)).fill(0);
    this.#pages = kernel.allocate(valueBytes + BYTES_BESIDE_VALUES * count + BYTES_BESIDE_ROWS);
    this.#end = this.#pages;
  }

  /** How many of these events come before the one with which a column of texts would pass `VECTOR_COLUMN_BYTES`; at least 1. */
  fittingRows(events: Uint32Array): number {
    const { run } = this.#kernel;
    this.#kernel.uint32s(this.#order, events.length).set(events);
    return TEXT_COLUMNS.reduce((rows, name) => {
      const column = this.#events.column(name);
      const dictionary = column.kind === 'numbered' ? column.dictionary : 0;
      return run.fittingRows(column.entries, dictionary, this.#order, rows, VECTOR_COLUMN_BYTES);
    }, events.length);
  }

  /** Begins a row group of these events, of which there is at least one. */
  begin(events: Uint32Array): void {
    this.#rows = events.length;
    this.#kernel.uint32s(this.#order, events.length).set(events);
    this.#end = this.#pages;
  }

  sequences(): ColumnPages {
    return this.#numbersOf(this.#events.sequences);
  }

  timestamps(): ColumnPages {
    return this.#numbersOf(this.#events.timestamps);
  }

  /** Encodes numbers that count up from `first`. */
  countingFrom(first: bigint): ColumnPages {
    this.#kernel.run.countUp(first, this.#rows, this.#wide);
    return this.#deltaPacked();
  }

  hasUppercaseOrNonAscii(): ColumnPages {
    const { run } = this.#kernel;
    return {
      encoding: 'PLAIN',
      data: this.#take(this.#end, run.gatherBits(this.#events.hasUppercaseOrNonAscii, this.#order, this.#rows, this.#end)),
    };
  }

  /** Encodes the values of a column. With `levels` the page begins with the definition levels; without, each row has a value. */
  values(name: BatchColumn, levels = false): ColumnPages {
    const { run } = this.#kernel;
    const column = this.#events.column(name);
    const valuesAt = run.writeLevels(column.entries, this.#order, this.#rows, this.#entries, this.#end);
    const start = levels ? this.#end : valuesAt;
    const present = run.presentRows();
    if (present === 0) {
      return { encoding: 'PLAIN', data: this.#take(start, valuesAt) };
    }
    if (column.kind === 'addressed') {
      return this.#texts(start, valuesAt, present);
    }
    const different = run.renumber(this.#entries, present, this.#numbers, this.#used);
    run.resolve(this.#used, different, column.dictionary);
    if (4 * different <= 3 * present) {
      const data = this.#take(start, run.writeIndices(this.#entries, present, different, valuesAt));
      return { encoding: 'RLE_DICTIONARY', data, dictionary: { bytes: this.#dictionary(column, different), values: different } };
    }
    run.resolve(this.#entries, present, this.#used);
    if (column.size === undefined) {
      return this.#texts(start, valuesAt, present);
    }
    return { encoding: 'PLAIN', data: this.#take(start, run.writeNumbers(this.#entries, present, column.size, valuesAt)) };
  }

  #numbersOf(numbers: Address): ColumnPages {
    this.#kernel.run.gatherNumbers(numbers, this.#order, this.#rows, this.#wide);
    return this.#deltaPacked();
  }

  #deltaPacked(): ColumnPages {
    const { run } = this.#kernel;
    run.findBounds(this.#wide, this.#rows);
    const bounds = { min_value: run.minimum(), max_value: run.maximum() };
    return {
      encoding: 'DELTA_BINARY_PACKED',
      data: this.#take(this.#end, run.writeDeltaPacked(this.#wide, this.#rows, this.#end)),
      bounds,
    };
  }

  #texts(start: Address, at: Address, count: number): ColumnPages {
    const data = this.#take(start, this.#kernel.run.writeDeltaLengthTexts(this.#entries, count, this.#wide, at));
    return { encoding: 'DELTA_LENGTH_BYTE_ARRAY', data };
  }

  #dictionary({ size }: NumberedColumn, different: number): Buffer {
    const { run } = this.#kernel;
    const at = this.#end;
    const end = size === undefined ? run.writeTexts(this.#used, different, at) : run.writeNumbers(this.#used, different, size, at);
    return this.#take(at, end);
  }

  #take(start: Address, end: Address): Buffer {
    this.#end = end;
    return this.#kernel.bytes(start, end - start);
  }
}
