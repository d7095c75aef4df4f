import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../query/json-bytes.ts';
import { JsonSkipper } from '../event/json-skipper.ts';
import { decodedBase64, type EnvelopeFault, foundAt, type TakenApart, unescaped } from './envelope.ts';
import { behindBrackets } from './json-brackets.ts';
import { BrokenOtlp, isWholeRecord, MOST_VALUE_LEVELS, takeOtlp, textKind } from './otlp-record.ts';
import type { RecordWriter } from './record-writer.ts';

/** What integers of 64 bits come as, and other numbers may: texts of JSON's numbers. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** The longest number that is looked for in a text. */
const LONGEST_NUMBER_BYTES = 400;
/** The first letter of null. */
const LETTER_N = 0x6e;

/** The one member of an AnyValue, and where its value lies. */
interface AnyValue {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const VALUE_NAMES = ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'];

/** Takes the value that begins at an index, and returns the index behind it. */
type TakeValue = (at: number) => number;

/**
 * Takes an ExportLogsServiceRequest in JSON apart. The records are those that the same request has in protobuf (`takeOtlpProtobuf`), their
 * texts and numbers as they stand there. Of members of one name the last counts, but all of those that have log records.
 */
export function takeOtlpJson(body: Buffer): TakenApart | EnvelopeFault {
  return takeOtlp(body, 'JSON', (records) => new OtlpJson(body, records).request());
}

class OtlpJson {
  readonly #bytes: Buffer;
  readonly #out: RecordWriter;
  readonly #skipper = new JsonSkipper();

  constructor(bytes: Buffer, out: RecordWriter) {
    [this.#bytes, this.#out] = [bytes, out];
  }

  request(): void {
    const end = this.#eachIn('resourceLogs', this.#blank(0), (ofResource) =>
      this.#eachIn('scopeLogs', ofResource, (ofScope) => this.#eachIn('logRecords', ofScope, (at) => this.#logRecord(at))),
    );
    if (this.#blank(end) !== this.#bytes.length - 1) throw this.#unexpected(this.#blank(end));
  }

  /** Takes each element of the list that a member of the object at `at` is. */
  #eachIn(wanted: string, at: number, take: TakeValue): number {
    return this.#object(at, (name, start) => (name === wanted ? this.#list(start, take) : this.#skip(start)));
  }

  #logRecord(at: number): number {
    let [body, attributesAt]: [AnyValue | null, number] = [null, -1];
    const end = this.#object(at, (name, start) => {
      if (name === 'attributes') {
        this.#require(start, OPEN_BRACKET);
        attributesAt = start;
      }
      if (name !== 'body') return this.#skip(start);
      const value = this.#anyValue(start);
      body = value.found;
      return value.end;
    });
    this.#record(body, attributesAt);
    this.#out.endRecord();
    return end;
  }

  /** Finds the member of the AnyValue at `at` that counts, and the index behind it all. */
  #anyValue(at: number): { readonly found: AnyValue | null; readonly end: number } {
    let found: AnyValue | null = null;
    const end = this.#object(at, (name, start) => {
      const behind = this.#skip(start);
      if (VALUE_NAMES.includes(name)) found = { name, start, end: behind };
      return behind;
    });
    return { found, end };
  }

  #record(body: AnyValue | null, attributesAt: number): void {
    const hasAttributes = attributesAt >= 0 && this.#bytes[this.#blank(attributesAt + 1)] !== CLOSE_BRACKET;
    const text = body === null ? null : this.#textOf(body);
    const valueKind = body === null ? 'nothing' : body.name === 'kvlistValue' ? 'list' : 'other';
    const kind = text === null ? valueKind : textKind(text, 0, text.length);
    const out = this.#out;
    const isWhole = isWholeRecord(kind, hasAttributes);
    if (!isWhole) out.ascii(kind === 'nothing' ? '{' : '{"body":');
    if (text !== null && isWhole) out.raw(text);
    else if (text !== null && kind !== 'nothing') out.string(text, 0, text.length);
    else if (text === null && body !== null) this.#valueOf(body.name, body.start, 1);
    if (isWhole) return;
    if (kind !== 'nothing' && hasAttributes) out.ascii(',');
    if (hasAttributes) this.#items(attributesAt, (at) => this.#keyValue(at, 1));
    out.ascii('}');
  }

  /** The bytes of a body that is a text or bytes, of which the escapes are replaced where they stand; null of another. */
  #textOf({ name, start, end }: AnyValue): Buffer | null {
    if (this.#bytes[start] !== QUOTE || !(name === 'stringValue' || name === 'bytesValue')) return null;
    const text = this.#bytes.subarray(start + 1, end - 1);
    const plain = text.includes(BACKSLASH) ? this.#bytes.subarray(start + 1, unescaped(this.#bytes, start + 1, end - 1)) : text;
    return (name === 'bytesValue' ? decodedBase64(plain.toString('latin1')) : null) ?? plain;
  }

  /** Writes the KeyValue at `at` as a member of an object. Each value is written once, or one inside another would be 2^levels times. */
  #keyValue(at: number, level: number): number {
    const from = this.#out.length;
    let [keyAt, writtenAt, valueFrom]: [number, number, number] = [-1, -1, -1];
    const end = this.#object(at, (name, start) => {
      if (name === 'key') {
        this.#require(start, QUOTE);
        keyAt = start;
      }
      if (name !== 'value') return this.#skip(start);
      if (valueFrom < 0) [writtenAt, valueFrom] = [keyAt, this.#key(keyAt)];
      this.#out.cutTo(valueFrom);
      return this.#value(start, level);
    });
    if (valueFrom < 0) {
      this.#key(keyAt);
      this.#out.ascii('null');
    } else if (writtenAt !== keyAt) {
      // The key that counts came behind its value.
      this.#out.replace(from, valueFrom - 1, this.#bytes.subarray(keyAt, this.#skip(keyAt)));
    }
    return end;
  }

  /** Writes the key at an index and a colon, and returns where the value comes. An index of -1 stands for a key that is not there. */
  #key(at: number): number {
    if (at < 0) this.#out.ascii('""');
    else this.#out.raw(this.#bytes, at, this.#skip(at));
    this.#out.ascii(':');
    return this.#out.length;
  }

  /** Writes the AnyValue at `at`. */
  #value(at: number, level: number): number {
    const from = this.#out.length;
    this.#out.ascii('null');
    return this.#object(at, (name, start) => {
      if (!VALUE_NAMES.includes(name)) return this.#skip(start);
      this.#out.cutTo(from);
      return this.#valueOf(name, start, level);
    });
  }

  /** Writes the value of a member of an AnyValue. */
  #valueOf(name: string, at: number, level: number): number {
    switch (name) {
      case 'arrayValue':
        return this.#valuesIn('[]', at, level, (item) => this.#value(item, level + 1));
      case 'kvlistValue':
        return this.#valuesIn('{}', at, level, (item) => this.#keyValue(item, level + 1));
      case 'intValue':
      case 'doubleValue':
        return this.#number(at);
      default:
        return this.#asItIs(at);
    }
  }

  #valuesIn([open = '', close = '']: string, at: number, level: number, write: TakeValue): number {
    const out = this.#out;
    if (level > MOST_VALUE_LEVELS) {
      const end = this.#skip(at);
      out.string(this.#bytes, at, end);
      return end;
    }
    out.ascii(open);
    const from = out.length;
    const end = this.#object(at, (name, start) => {
      if (name !== 'values') return this.#skip(start);
      out.cutTo(from);
      return this.#items(start, write);
    });
    out.ascii(close);
    return end;
  }

  /** Writes the elements of the list at `at`, with commas between. */
  #items(at: number, write: TakeValue): number {
    let isFirst = true;
    return this.#list(at, (item) => {
      if (!isFirst) this.#out.ascii(',');
      isFirst = false;
      return write(item);
    });
  }

  /** Writes a number, which may come as a text. */
  #number(at: number): number {
    const end = this.#skip(at);
    const isText = this.#bytes[at] === QUOTE && end - at < LONGEST_NUMBER_BYTES;
    if (isText && NUMBER.test(this.#bytes.toString('latin1', at + 1, end - 1))) this.#out.raw(this.#bytes, at + 1, end - 1);
    else this.#out.raw(this.#bytes, at, end);
    return end;
  }

  #asItIs(at: number): number {
    const end = this.#skip(at);
    this.#out.raw(this.#bytes, at, end);
    return end;
  }

  /** Calls `take` for each member of the object at `at` that is not null, and returns the index behind the object. */
  #object(at: number, take: (name: string, at: number) => number): number {
    this.#require(at, OPEN_BRACE);
    let index = this.#blank(at + 1);
    if (this.#bytes[index] === CLOSE_BRACE) return index + 1;
    for (;;) {
      this.#require(index, QUOTE);
      const nameEnd = this.#skip(index);
      const colon = this.#blank(nameEnd);
      this.#require(colon, COLON);
      const start = this.#blank(colon + 1);
      const name = this.#bytes.toString('latin1', index + 1, nameEnd - 1);
      const isNull = this.#bytes[start] === LETTER_N;
      index = this.#blank(isNull ? this.#skip(start) : take(name.includes('\\') ? JSON.parse(`"${name}"`) : name, start));
      if (this.#bytes[index] === CLOSE_BRACE) return index + 1;
      this.#require(index, COMMA);
      index = this.#blank(index + 1);
    }
  }

  /** Calls `take` for each element of the list at `at`, and returns the index behind the list. */
  #list(at: number, take: TakeValue): number {
    this.#require(at, OPEN_BRACKET);
    let index = this.#blank(at + 1);
    if (this.#bytes[index] === CLOSE_BRACKET) return index + 1;
    for (;;) {
      index = this.#blank(take(index));
      if (this.#bytes[index] === CLOSE_BRACKET) return index + 1;
      this.#require(index, COMMA);
      index = this.#blank(index + 1);
    }
  }

  /** Steps over a value, however deep it is. */
  #skip(at: number): number {
    const end = this.#skipper.skipValue(this.#bytes, at, 0);
    if (end >= 0) return end;
    const behind = this.#skipper.fault === 'nesting' ? behindBrackets(this.#bytes, at) : -1;
    if (behind < 0) throw this.#unexpected(this.#skipper.faultAt);
    return behind;
  }

  #blank(at: number): number {
    return this.#skipper.skipBlank(this.#bytes, at);
  }

  #require(at: number, byte: number): void {
    if (this.#bytes[at] !== byte) throw this.#unexpected(at);
  }

  #unexpected(at: number): BrokenOtlp {
    return new BrokenOtlp(foundAt(this.#bytes, at));
  }
}
