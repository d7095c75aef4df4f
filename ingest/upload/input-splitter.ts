import { newlinesIn, OPEN_BRACKET } from '../../query/json-bytes.ts';
import type { InputMemory } from '../event/partial-event.ts';
import { type EventReceiver, type EventSplitter, firstByteOf, type LineConverter, NdjsonSplitter } from './event-splitters.ts';
import { JsonTextSplitter } from './json-text-splitter.ts';

/** Larger chunks are split in parts of this size: a splitter may look through all of a part for each event in it. */
export const PART_BYTES = 64 * 1024;

/** How the events or records of an input stand in it. */
export interface InputForm {
  readonly source: 'http' | 'file';
  /**
   * `lines`: each line is one, also where the first byte of the input is a bracket. `json`: objects may go over several lines, and arrays
   * follow one another. Default: `json` in a file; else the first byte decides that is neither blank, NUL nor part of a byte order mark: a
   * bracket, as of an array, begins JSON texts.
   */
  readonly form?: 'lines' | 'json';
  /** Counts what the input holds until its end. An error that it throws ends the intake, after the events before are stored. */
  readonly memory?: InputMemory;
}

/** Splits an input that has lines or JSON texts. */
export class InputSplitter implements EventSplitter {
  readonly #memory: InputMemory | undefined;
  readonly #converter: LineConverter;
  #splitter: EventSplitter | undefined;

  constructor({ source, form = source === 'file' ? 'json' : undefined, memory }: InputForm, converter: LineConverter) {
    [this.#memory, this.#converter] = [memory, converter];
    if (form !== undefined) this.#splitter = this.#splitterOf(form);
  }

  push(part: Buffer, receiver: EventReceiver): void {
    const first = this.#splitter === undefined ? firstByteOf(part) : undefined;
    if (first !== undefined) this.#splitter = this.#splitterOf(first === OPEN_BRACKET ? 'json' : 'lines');
    if (this.#splitter === undefined) receiver.newlines(newlinesIn(part));
    else this.#splitter.push(part, receiver);
  }

  end(receiver: EventReceiver): void {
    this.#splitter?.end(receiver);
  }

  #splitterOf(form: 'lines' | 'json'): EventSplitter {
    return new (form === 'json' ? JsonTextSplitter : NdjsonSplitter)(this.#converter, this.#memory);
  }
}
