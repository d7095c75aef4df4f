import { PbfReader } from 'pbf';
import type { EnvelopeFault, TakenApart } from './envelope.ts';
import { BrokenOtlp, isWholeRecord, MOST_VALUE_LEVELS, takeOtlp, textKind } from './otlp-record.ts';
import type { RecordWriter } from './record-writer.ts';

/** Numbers of fields, as opentelemetry/proto/logs/v1/logs.proto and common/v1/common.proto have them. */
const REQUEST = { resourceLogs: 1 } as const;
const RESOURCE_LOGS = { scopeLogs: 2 } as const;
const SCOPE_LOGS = { logRecords: 2 } as const;
const LOG_RECORD = { body: 5, attributes: 6 } as const;
const VALUE = { string: 1, bool: 2, int: 3, double: 4, array: 5, keyValueList: 6, bytes: 7 } as const;
const VALUES = 1;
const KEY_VALUE = { key: 1, value: 2 } as const;

/** Types of the wire; those of groups and those without a meaning are left out. */
const WIRE_TYPES: Readonly<Record<number, string>> = { 0: 'varint', 1: 'eight bytes', 2: 'length', 5: 'four bytes' };
const [VARINT, EIGHT_BYTES, WITH_LENGTH] = [0, 1, 2];

/** A value by the number of what it is, and where that lies; 0 where it is nothing. Of several, which no writer makes, the last counts. */
interface AnyValue {
  readonly field: number;
  readonly start: number;
  readonly end: number;
}

const NOTHING: AnyValue = { field: 0, start: 0, end: 0 };

/**
 * Takes an ExportLogsServiceRequest in protobuf apart. The record of each log record is its body: a text that begins as JSON of an object
 * does, or a list of keys and values; else its attributes, with the body beside them. What is around it, such as times and resources, is
 * passed over.
 */
export function takeOtlpProtobuf(body: Buffer): TakenApart | EnvelopeFault {
  return takeOtlp(body, 'protobuf', (records) => new OtlpProtobuf(body.subarray(0, -1), records).request());
}

class OtlpProtobuf {
  readonly #bytes: Buffer;
  readonly #reader: PbfReader;
  readonly #out: RecordWriter;

  constructor(bytes: Buffer, out: RecordWriter) {
    [this.#bytes, this.#reader, this.#out] = [bytes, new PbfReader(bytes), out];
  }

  request(): void {
    this.#eachMessage(this.#bytes.length, REQUEST.resourceLogs, (ofResource) => {
      this.#eachMessage(ofResource, RESOURCE_LOGS.scopeLogs, (ofScope) => {
        this.#eachMessage(ofScope, SCOPE_LOGS.logRecords, (end) => this.#logRecord(end));
      });
    });
  }

  #logRecord(end: number): void {
    const start = this.#reader.pos;
    let [body, hasAttributes] = [NOTHING, false];
    for (let field = this.#next(end); field !== 0; field = this.#next(end)) {
      if (this.#reader.type !== WITH_LENGTH) continue;
      if (field === LOG_RECORD.body) body = this.#anyValue(this.#endOfValue(end));
      else if (field === LOG_RECORD.attributes) hasAttributes = true;
    }
    const isText = body.field === VALUE.string || body.field === VALUE.bytes;
    const valueKind = body.field === 0 ? 'nothing' : body.field === VALUE.keyValueList ? 'list' : 'other';
    const kind = isText ? textKind(this.#bytes, body.start, body.end) : valueKind;
    if (!isWholeRecord(kind, hasAttributes)) this.#attributes(start, end, kind === 'nothing' ? NOTHING : body);
    else if (isText) this.#out.raw(this.#bytes, body.start, body.end);
    else this.#value(body, 1);
    this.#reader.pos = end;
    this.#out.endRecord();
  }

  /** Writes the attributes of the log record from `start` to `end`, and before them its body as one. */
  #attributes(start: number, end: number, body: AnyValue): void {
    let isFirst = body.field === 0;
    this.#out.ascii(isFirst ? '{' : '{"body":');
    if (!isFirst) this.#value(body, 1);
    this.#reader.pos = start;
    this.#eachMessage(end, LOG_RECORD.attributes, (ofAttribute) => {
      if (!isFirst) this.#out.ascii(',');
      isFirst = false;
      this.#keyValue(ofAttribute, 1);
    });
    this.#out.ascii('}');
  }

  #keyValue(end: number, level: number): void {
    let [key, value] = [NOTHING, NOTHING];
    for (let field = this.#next(end); field !== 0; field = this.#next(end)) {
      if (this.#reader.type !== WITH_LENGTH) continue;
      if (field === KEY_VALUE.key) key = this.#range(field, end);
      else if (field === KEY_VALUE.value) value = this.#anyValue(this.#endOfValue(end));
    }
    this.#out.string(this.#bytes, key.start, key.end);
    this.#out.ascii(':');
    this.#value(value, level);
    this.#reader.pos = end;
  }

  /** Reads the AnyValue that ends at `end`, without what is in it. */
  #anyValue(end: number): AnyValue {
    let found = NOTHING;
    for (let field = this.#next(end); field !== 0; field = this.#next(end)) {
      const { type, pos } = this.#reader;
      const expected = field === VALUE.bool || field === VALUE.int ? VARINT : field === VALUE.double ? EIGHT_BYTES : WITH_LENGTH;
      if (type !== expected) continue;
      if (type === WITH_LENGTH) found = this.#range(field, end);
      else found = { field, start: pos, end: type === EIGHT_BYTES ? pos + 8 : end };
    }
    return found;
  }

  #value({ field, start, end }: AnyValue, level: number): void {
    this.#reader.pos = start;
    const isNested = field === VALUE.array || field === VALUE.keyValueList;
    if (field === VALUE.string) this.#out.string(this.#bytes, start, end);
    else if (field === VALUE.bytes || (isNested && level > MOST_VALUE_LEVELS)) this.#out.base64(this.#bytes, start, end);
    else if (field === VALUE.array) this.#list('[]', end, (ofItem) => this.#value(this.#anyValue(ofItem), level + 1));
    else if (field === VALUE.keyValueList) this.#list('{}', end, (ofItem) => this.#keyValue(ofItem, level + 1));
    else this.#out.ascii(this.#scalar(field));
  }

  #scalar(field: number): string {
    switch (field) {
      case VALUE.bool:
        return this.#varint() === 0 ? 'false' : 'true';
      case VALUE.int:
        return this.#int64();
      case VALUE.double:
        return jsonOf(this.#reader.readDouble());
      default:
        return 'null';
    }
  }

  #list([open = '', close = '']: string, end: number, write: (endOfItem: number) => void): void {
    this.#out.ascii(open);
    let isFirst = true;
    this.#eachMessage(end, VALUES, (endOfItem) => {
      if (!isFirst) this.#out.ascii(',');
      isFirst = false;
      write(endOfItem);
    });
    this.#out.ascii(close);
  }

  /** Calls `take` with the end of each message in the field `wanted` of the message that ends at `end`. */
  #eachMessage(end: number, wanted: number, take: (end: number) => void): void {
    for (let field = this.#next(end); field !== 0; field = this.#next(end)) {
      if (field !== wanted || this.#reader.type !== WITH_LENGTH) continue;
      const endOfMessage = this.#endOfValue(end);
      take(endOfMessage);
      this.#reader.pos = endOfMessage;
    }
  }

  /** Steps to the next field of the message that ends at `end`, over what was not read of the one before. 0 where there is none. */
  #next(end: number): number {
    let field: number;
    try {
      field = this.#reader.nextField(end);
    } catch (cause) {
      throw new BrokenOtlp(`${(cause as Error).message}, at byte ${this.#reader.pos}`, { cause });
    }
    const { pos, type } = this.#reader;
    if (field === 0 && pos !== end) throw new BrokenOtlp(`a value goes on past byte ${end}, where its message ends`);
    if (field !== 0 && WIRE_TYPES[type] === undefined) {
      throw new BrokenOtlp(`the field ${field} at byte ${pos} has the wire type ${type}; allowed: ${Object.keys(WIRE_TYPES).join(', ')}`);
    }
    return field;
  }

  /** Reads a length, and returns where the value ends that it is of. Throws where that is past `end`. */
  #endOfValue(end: number): number {
    const length = this.#varint();
    const endOfValue = this.#reader.pos + length;
    if (endOfValue > end) throw new BrokenOtlp(`${length} bytes are to come at byte ${this.#reader.pos}, and ${end - this.#reader.pos} do`);
    return endOfValue;
  }

  /** Steps over a value with a length. */
  #range(field: number, end: number): AnyValue {
    const endOfValue = this.#endOfValue(end);
    const start = this.#reader.pos;
    this.#reader.pos = endOfValue;
    return { field, start, end: endOfValue };
  }

  #varint(isSigned = false): number {
    try {
      return this.#reader.readVarint(isSigned);
    } catch (cause) {
      throw new BrokenOtlp(`${(cause as Error).message}, at byte ${this.#reader.pos}`, { cause });
    }
  }

  #int64(): string {
    const start = this.#reader.pos;
    const value = this.#varint(true);
    if (Number.isSafeInteger(value)) return String(value);
    // A number does not hold all of its digits.
    const bits = this.#bytes
      .subarray(start, this.#reader.pos)
      .reduce((sum, byte, index) => sum | (BigInt(byte & 0x7f) << BigInt(7 * index)), 0n);
    return String(BigInt.asIntN(64, bits));
  }
}

/** A number as JSON; one that JSON does not know as a text. */
function jsonOf(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : JSON.stringify(String(value));
}
