/** What a splitter hands on. */
export interface EventReceiver {
  event(bytes: Uint8Array): void;
  /** Bytes in the place of an event that cannot be one. */
  stray(bytes: Uint8Array, reason: string): void;
}

/** Cuts an input, given in chunks of any size, into events. */
export interface EventSplitter {
  push(chunk: Buffer, receiver: EventReceiver): void;
  /** The input is over. Throws `UnreadableInput` where it cannot end here. */
  end(receiver: EventReceiver): void;
}
