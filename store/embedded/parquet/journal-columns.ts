import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type ColumnMetaData, parquetMetadata, type SchemaElement } from 'hyparquet';
import { deserializeTCompactProtocol } from 'hyparquet/src/thrift.js';
import type { Address, SegmentKernel } from './segment-kernel.ts';

/** A column of a journal in the memory of the kernel. */
export interface JournalColumn {
  /** Which of the events have a value: all, none, or those whose bit is set there, eight to a byte. */
  readonly present: 'all' | 'none' | { readonly bits: Address };
  /** Of those that have one, back to back in the encoding PLAIN. */
  readonly values: Address;
  readonly end: Address;
}

/** The events of a journal in the memory of the kernel. */
export interface JournalColumns {
  readonly path: string;
  readonly events: number;
  /** No less than all values have. */
  readonly bytes: number;
  readonly columns: ReadonlyMap<string, JournalColumn>;
}

/** How long the definition levels are is written before them. */
const LENGTH_BYTES = 4;

/**
 * Reads the file of a journal into the kernel's memory and finds its columns there. Throws what names the file where it cannot be read, or
 * is not as `journal-file.ts` writes them.
 */
export function readJournalColumns(path: string, kernel: SegmentKernel): JournalColumns {
  const { at, length } = readFile(path, kernel);
  try {
    const file = kernel.bytes(at, length);
    const { row_groups: groups, schema } = parquetMetadata(file);
    const events = groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
    const elements = schema.slice(1);
    const columns = (groups[0]?.columns ?? []).map(({ meta_data: metadata }, index) => {
      const element = elements[index];
      if (metadata === undefined || element === undefined || groups.length > 1) {
        throw new Error('it is not one row group with a page for each column');
      }
      return [element.name, columnIn(file, at, metadata, element)] as const;
    });
    return { path, events, bytes: length, columns: new Map(columns) };
  } catch (error) {
    throw new Error(`journal ${JSON.stringify(path)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function readFile(path: string, kernel: SegmentKernel): { readonly at: Address; readonly length: number } {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const at = kernel.allocate(size);
    const bytes = kernel.bytes(at, size);
    for (let done = 0; done < size; ) {
      const read = readSync(file, bytes, done, size - done, done);
      if (read === 0) {
        throw new Error(`journal ${JSON.stringify(path)} ends at byte ${done} of ${size}`);
      }
      done += read;
    }
    return { at, length: size };
  } finally {
    closeSync(file);
  }
}

function columnIn(file: Buffer, fileAt: Address, metadata: ColumnMetaData, { name, repetition_type }: SchemaElement): JournalColumn {
  const start = Number(metadata.data_page_offset);
  const end = start + Number(metadata.total_compressed_size);
  const page = { view: new DataView(file.buffer, file.byteOffset, end), offset: start };
  // Numbered as in the format's PageHeader.
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

/** Definition levels that are one run: of bits, or of the same level. */
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
