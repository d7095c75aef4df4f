/** Counts the users of something that is freed when the last of them has gone. It begins with one user: its owner. */
export class RefCounted {
  #users = 1;
  readonly #free: () => void;

  /** `free` is called once. */
  constructor(free: () => void) {
    this.#free = free;
  }

  /** How many users there are, the owner included. */
  get users(): number {
    return this.#users;
  }

  /** Adds a user. Throws where it has been freed. */
  acquire(): void {
    if (this.#users === 0) {
      throw new Error('what has been freed cannot be acquired');
    }
    this.#users += 1;
  }

  /** Removes a user. Throws where there is none. */
  release(): void {
    if (this.#users === 0) {
      throw new Error('what has been freed cannot be released');
    }
    this.#users -= 1;
    if (this.#users === 0) {
      this.#free();
    }
  }
}
