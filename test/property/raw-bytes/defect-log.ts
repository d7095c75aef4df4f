/** Lines of the log from this level on tell of a defect. */
const ERROR_LEVEL = 50;

/** Takes a log apart into lines, and keeps those that tell of a defect. */
export class DefectLog {
  #rest = '';
  #defects: string[] = [];
  address: string | undefined;

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      this.address ??= /listening on (http:\/\/[^"\s]+)/.exec(line)?.[1];
      const level = line.startsWith('{') ? Number((JSON.parse(line) as { readonly level?: unknown }).level) : ERROR_LEVEL;
      if (level >= ERROR_LEVEL) this.#defects.push(line);
    }
  }

  /** The defects since this was asked last. A line that has come in part is told when the rest of it is there. */
  take(): readonly string[] {
    const taken = this.#defects;
    this.#defects = [];
    return taken;
  }

  /** Returns the rest of the log of an ended program, including a last line without an end. */
  takeAll(): readonly string[] {
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? this.take() : [...this.take(), rest];
  }
}
