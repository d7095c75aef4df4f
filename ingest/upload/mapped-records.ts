import { tooLong } from '../event/event-verdict.ts';
import type { LongPiece } from '../event/partial-event.ts';
import type { MappedRecord, RecordMapper } from '../mapping/record-mapper.ts';
import { type EventReceiver, NO_LINES } from './event-splitters.ts';
import { unclosedArray } from './intake-report.ts';
import { JsonTextSplitter } from './json-text-splitter.ts';

/** Takes the records of an input from a splitter, and hands on what becomes of each. */
class MappedRecords implements EventReceiver {
  readonly #mapper: RecordMapper;
  readonly #receive: (mapped: MappedRecord) => void;

  constructor(mapper: RecordMapper, receive: (mapped: MappedRecord) => void) {
    [this.#mapper, this.#receive] = [mapper, receive];
  }

  event(bytes: Uint8Array): void {
    this.#mapper.map(bytes, this.#receive);
  }

  tryEvent(bytes: Uint8Array): boolean {
    let isJson = true;
    this.#mapper.map(bytes, (mapped) => {
      if (mapped.kind === 'rejected' && mapped.isJson === false) isJson = false;
      else this.#receive(mapped);
    });
    return isJson;
  }

  tooLong(piece: LongPiece, reason = tooLong(piece.sizeBytes, 'record')): void {
    this.#receive({ kind: 'rejected', reason, zoneId: null, record: piece.start });
  }

  stray(bytes: Uint8Array, reason: string): void {
    this.#receive({ kind: 'rejected', reason, zoneId: null, record: bytes });
  }

  unclosed(_bytes: Uint8Array | LongPiece, index: number): never {
    throw unclosedArray(index);
  }

  converted(): void {}

  newlines(): void {}
}

/**
 * Hands on what becomes of each record of decompressed lines, arrays or JSON texts, in their order. After each chunk it waits for
 * `afterChunk`. Throws UnreadableInput where an array ends in its middle, and errors of the source as they are.
 */
export async function mapRecords(
  chunks: AsyncIterable<Uint8Array>,
  mapper: RecordMapper,
  receive: (mapped: MappedRecord) => void,
  afterChunk: () => Promise<void>,
): Promise<void> {
  const splitter = new JsonTextSplitter(NO_LINES);
  const records = new MappedRecords(mapper, receive);
  for await (const chunk of chunks) {
    splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length), records);
    await afterChunk();
  }
  splitter.end(records);
  await afterChunk();
}
