import { BATCH_COLUMNS, type BatchColumn, type FieldColumns } from '../../../query/batch-columns.ts';

type Values = Partial<Record<BatchColumn, unknown>>;

/** An event without its log: `logId`, `shieldZoneId`, `timestamp`, the texts that it has, `ipHigh` and `ipLow`; 64 bits are bigints. */
export type DecodedEvent = Readonly<Record<string, unknown>>;

/**
 * The events that lie in the columns. Throws where the columns are not as long as their masks say, and where an event is not as the
 * definition of the columns says.
 */
export function decodedEvents({ values, masks }: FieldColumns): DecodedEvent[] {
  if (values.length !== BATCH_COLUMNS.length) {
    throw new Error(`${values.length} columns instead of ${BATCH_COLUMNS.length}`);
  }
  const readers = BATCH_COLUMNS.map(({ type }, index) => new ColumnReader(Buffer.concat(values[index] ?? []), type));
  const all = Buffer.concat(masks);
  const events = Array.from({ length: all.length / 4 }, (_, event) => {
    const mask = all.readUInt32LE(4 * event);
    const own = BATCH_COLUMNS.flatMap(({ name }, index) => ((mask & (1 << index)) === 0 ? [] : [[name, readers[index]?.next()]]));
    const flags = mask >>> BATCH_COLUMNS.length;
    if (flags > 1) {
      throw new Error(`an event has bits in its mask that mean nothing: ${mask.toString(2)}`);
    }
    return wholeEvent(Object.fromEntries(own), flags === 1);
  });
  for (const [index, { name }] of BATCH_COLUMNS.entries()) {
    if (readers[index]?.isAtEnd !== true) {
      throw new Error(`${name} has more values than events that have one`);
    }
  }
  return events;
}

/** The values of a column, one after the other. */
class ColumnReader {
  readonly #bytes: Buffer;
  readonly #type: (typeof BATCH_COLUMNS)[number]['type'];
  #at = 0;

  constructor(bytes: Buffer, type: (typeof BATCH_COLUMNS)[number]['type']) {
    this.#bytes = bytes;
    this.#type = type;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  next(): number | bigint | string | Buffer {
    switch (this.#type) {
      case 'int32':
        return this.#piece(4).readInt32LE();
      case 'int64':
        return this.#piece(8).readBigInt64LE();
      case 'uint64':
        return this.#piece(8).readBigUInt64LE();
      case 'bytes':
        return this.#piece(this.#piece(4).readUInt32LE());
      case 'text':
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#piece(this.#piece(4).readUInt32LE()));
    }
  }

  #piece(length: number): Buffer {
    const piece = this.#bytes.subarray(this.#at, this.#at + length);
    if (piece.length < length) {
      throw new Error(`a column ends after ${this.#bytes.length} bytes, in the middle of a value of ${length}`);
    }
    this.#at += length;
    return piece;
  }
}

function wholeEvent({ logIdBytes, logIdText, urlHead, urlTail, ...others }: Values, hasUppercaseOrNonAscii: boolean): DecodedEvent {
  const event = { ...others, logId: logIdOf(logIdBytes, logIdText), ...urlOf(urlHead, urlTail) };
  if (event.shieldZoneId === undefined || event.timestamp === undefined || (event.ipHigh === undefined) !== (event.ipLow === undefined)) {
    throw new Error(`an event lacks what each one has, or half of its address: ${JSON.stringify(Object.keys(event))}`);
  }
  if (hasUppercaseOrNonAscii !== /[A-Z]|[^\0-\x7f]/.test(`${event.ip ?? ''}${urlTail ?? ''}`)) {
    throw new Error(
      `of ip ${String(event.ip)} and urlTail ${String(urlTail)} it is said that ` +
        `lower case ${hasUppercaseOrNonAscii ? 'changes one' : 'changes none'}`,
    );
  }
  return event;
}

function logIdOf(bytes: unknown, text: unknown): string {
  if (bytes === undefined) {
    if (typeof text !== 'string' || text === '' || /^[0-9a-f]{32}$|^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) {
      throw new Error(`an event has the text ${String(text)} for an id`);
    }
    return text;
  }
  const digits = (bytes as Buffer).toString('hex');
  if (digits.length !== 32 || (text !== undefined && text !== '-')) {
    throw new Error(`an event has ${digits.length / 2} bytes for an id, and the text ${String(text)}`);
  }
  return text === undefined ? digits : digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function urlOf(head: unknown, tail: unknown): { readonly url?: string } {
  if (head === undefined && tail === undefined) {
    return {};
  }
  if (typeof head !== 'string' || typeof tail !== 'string' || /\?./s.test(head) || (!head.endsWith('?') && tail !== '')) {
    throw new Error(`an event has a url of ${String(head)} and ${String(tail)}`);
  }
  return { url: head + tail };
}
