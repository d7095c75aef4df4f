import { JsonNumber, type JsonObject, type JsonValue } from './json-value.ts';

/** A text is not JSON. The message says what is wrong and where: line, column and offset in UTF-16 units. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** Limits of a text. The caller limits its length. */
export interface JsonLimits {
  /** Arrays and objects that are open at the same time. */
  readonly depth: number;
  /** Values, arrays and objects included. Reading a million small ones takes a quarter of a second on the main thread. */
  readonly values: number;
}

/**
 * Reads JSON (RFC 8259) with numbers kept as text. JSON.parse with a reviver keeps them too, but overflows the stack on a megabyte of
 * brackets, and half of its errors have no position. Throws {@link JsonSyntaxError}, also as soon as a limit is passed. The last value of a
 * repeated key counts, as in JSON.parse.
 */
export function parseExactJson(text: string, limits: JsonLimits): JsonValue {
  return new JsonReader(text, limits).read();
}

const BLANKS = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

class JsonReader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  #at = 0;
  #depth = 0;
  #values = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  read(): JsonValue {
    const value = this.#value();
    if (this.#at < this.#text.length) {
      this.#fail('expected the end of the text');
    }
    return value;
  }

  #value(): JsonValue {
    this.#skipBlanks();
    this.#values += 1;
    if (this.#values > this.#limits.values) {
      this.#fail(`more than ${this.#limits.values} values`);
    }
    const value = this.#token();
    this.#skipBlanks();
    return value;
  }

  #token(): JsonValue {
    switch (this.#text[this.#at]) {
      case '"':
        return this.#string();
      case '[':
        return this.#array();
      case '{':
        return this.#object();
      default: {
        const word = this.#match(WORD);
        if (word !== undefined) {
          return WORDS[word] ?? null;
        }
        const number = this.#match(NUMBER);
        return number === undefined ? this.#fail('expected a value') : new JsonNumber(number);
      }
    }
  }

  #array(): JsonValue[] {
    const elements: JsonValue[] = [];
    this.#open();
    if (!this.#closes(']')) {
      do {
        elements.push(this.#value());
      } while (this.#goesOn(']'));
    }
    return elements;
  }

  #object(): JsonObject {
    const properties = new Map<string, JsonValue>();
    this.#open();
    if (!this.#closes('}')) {
      do {
        this.#skipBlanks();
        const key = this.#text[this.#at] === '"' ? this.#string() : this.#fail('expected a key in double quotes');
        this.#skipBlanks();
        if (this.#text[this.#at] !== ':') {
          this.#fail("expected ':'");
        }
        this.#at += 1;
        properties.set(key, this.#value());
      } while (this.#goesOn('}'));
    }
    return properties;
  }

  #open(): void {
    this.#depth += 1;
    if (this.#depth > this.#limits.depth) {
      this.#fail(`more than ${this.#limits.depth} arrays and objects inside one another`);
    }
    this.#at += 1;
    this.#skipBlanks();
  }

  #closes(bracket: string): boolean {
    if (this.#text[this.#at] !== bracket) {
      return false;
    }
    this.#at += 1;
    this.#depth -= 1;
    return true;
  }

  #goesOn(bracket: string): boolean {
    if (this.#closes(bracket)) {
      return false;
    }
    if (this.#text[this.#at] !== ',') {
      this.#fail(`expected ',' or '${bracket}'`);
    }
    this.#at += 1;
    return true;
  }

  #string(): string {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') {
      end += this.#text[end] === '\\' ? 2 : 1;
    }
    if (end >= this.#text.length) {
      this.#fail('a string that does not end begins');
    }
    try {
      const value = JSON.parse(this.#text.slice(this.#at, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      return this.#fail('a string with a raw control character or an unknown escape begins');
    }
  }

  #skipBlanks(): void {
    this.#match(BLANKS);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #fail(reason: string): never {
    const before = this.#text.slice(0, this.#at);
    const position = `line ${before.split('\n').length}, column ${this.#at - before.lastIndexOf('\n')} (offset ${this.#at})`;
    const next = this.#text.codePointAt(this.#at);
    const found = next === undefined ? 'the text ends' : `there is ${JSON.stringify(String.fromCodePoint(next))}`;
    throw new JsonSyntaxError(`${reason} at ${position}, where ${found}`);
  }
}
