import { newlinesIn, OPEN_BRACKET } from '../../query/json-bytes.ts';
import type { InputMemory } from '../event/partial-event.ts';
import { type EventReceiver, type EventSplitter, firstByteOf, type LineConverter, NdjsonSplitter } from './event-splitters.ts';
import { JsonTextSplitter } from './json-text-splitter.ts';

/** Larger chunks are split in parts of this size: a splitter may look through all of a part for each event in it. */
export const PART_BYTES = 64 * 1024;

/** How the events or records of an input stand in it. */
export interface InputForm {
  readonly source: 'http' | 'file';
  /** Every line is an event, also where the first byte of the input is a bracket. Default: a bracket begins JSON texts. */
  readonly areLines?: boolean;
  /** Where it has not lines alone: objects may go over several lines, and arrays follow one another. Default: in a file. */
  readonly isJson?: boolean;
  /** Makes what splits the input. Default: its first byte, or that it is JSON, decides. */
  readonly splitter?: (converter: LineConverter) => EventSplitter;
  /** Counts what the input holds until its end. An error that it throws ends the intake, after the events before are stored. */
  readonly memory?: InputMemory;
}

/**
 * Splits an input that has lines or JSON texts. Where nothing else says which, the first byte does that is neither blank, NUL nor part of a
 * byte order mark: a bracket, as of an array, begins JSON texts.
 */
export class InputSplitter implements EventSplitter {
  readonly #form: InputForm;
  readonly #converter: LineConverter;
  #splitter: EventSplitter | undefined;

  constructor(form: InputForm, converter: LineConverter) {
    [this.#form, this.#converter] = [form, converter];
    const { areLines, isJson, source, memory } = form;
    if (form.splitter !== undefined) this.#splitter = form.splitter(converter);
    else if (areLines !== true && (isJson ?? source === 'file')) this.#splitter = new JsonTextSplitter(converter, memory);
  }

  push(part: Buffer, receiver: EventReceiver): void {
    this.#splitter ??= this.#splitterOf(part);
    if (this.#splitter === undefined) receiver.newlines(newlinesIn(part));
    else this.#splitter.push(part, receiver);
  }

  end(receiver: EventReceiver): void {
    this.#splitter?.end(receiver);
  }

  #splitterOf(part: Buffer): EventSplitter | undefined {
    const { areLines, memory } = this.#form;
    const first = firstByteOf(part);
    if (first === undefined) return undefined;
    const Splitter = first === OPEN_BRACKET && areLines !== true ? JsonTextSplitter : NdjsonSplitter;
    return new Splitter(this.#converter, memory);
  }
}
