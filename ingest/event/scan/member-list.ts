/** Where the members of one JSON object lie in its text. Ranges end before their `end`; kinds are those of `KIND`. */
export class MemberList {
  count = 0;
  /** Key ranges, without the quotes. */
  keyStart = new Int32Array(32);
  keyEnd = new Int32Array(32);
  /** 1 where the key is written with escapes. */
  keyEscaped = new Uint8Array(32);
  /** Value ranges, quotes and brackets included. */
  valueStart = new Int32Array(32);
  valueEnd = new Int32Array(32);
  kind = new Uint8Array(32);

  clear(): void {
    this.count = 0;
  }

  add(keyStart: number, keyEnd: number, keyEscaped: boolean, valueStart: number, valueEnd: number, kind: number): void {
    const index = this.count++;
    if (index === this.kind.length) {
      this.#grow();
    }
    this.keyStart[index] = keyStart;
    this.keyEnd[index] = keyEnd;
    this.keyEscaped[index] = keyEscaped ? 1 : 0;
    this.valueStart[index] = valueStart;
    this.valueEnd[index] = valueEnd;
    this.kind[index] = kind;
  }

  #grow(): void {
    const words = (old: Int32Array) => {
      const grown = new Int32Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    const bytes = (old: Uint8Array) => {
      const grown = new Uint8Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    this.keyStart = words(this.keyStart) as Int32Array<ArrayBuffer>;
    this.keyEnd = words(this.keyEnd) as Int32Array<ArrayBuffer>;
    this.keyEscaped = bytes(this.keyEscaped) as Uint8Array<ArrayBuffer>;
    this.valueStart = words(this.valueStart) as Int32Array<ArrayBuffer>;
    this.valueEnd = words(this.valueEnd) as Int32Array<ArrayBuffer>;
    this.kind = bytes(this.kind) as Uint8Array<ArrayBuffer>;
  }
}
