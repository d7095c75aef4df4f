/** How long a feed waits for something that does not come, and what that is. */
export interface FeedPatience {
  /** Does the work, or waits for it: what it is, for people. */
  during<Result>(what: string, work: () => Promise<Result>): Promise<Result>;
  /** An attempt failed and is made again. */
  failed(message: string): void;
  /** What was waited for, once there is no patience left. */
  givenUp(): string | null;
  close(): void;
}

/** `limitMs` null: for ever. Calls `onGivenUp` once it has waited for the same work for longer than that. */
export function feedPatience(limitMs: number | null, onGivenUp: () => void): FeedPatience {
  let timer: NodeJS.Timeout | undefined;
  let waitsFor = '';
  let lastFailure: string | null = null;
  let givenUp: string | null = null;

  const giveUp = (): void => {
    givenUp = lastFailure === null ? waitsFor : `${waitsFor}: ${lastFailure}`;
    onGivenUp();
  };
  return {
    async during(what, work) {
      [waitsFor, lastFailure] = [what, null];
      if (limitMs !== null) timer = setTimeout(giveUp, limitMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
      }
    },
    failed(message) {
      lastFailure = message;
    },
    givenUp: () => givenUp,
    close: () => clearTimeout(timer),
  };
}
