/** A tab that has been hidden for so long ends its stream. */
const HIDDEN_MS = 30_000;

/** Browsers open six connections to a program over HTTP/1.1, for all tabs together. Two of them are left for questions. */
const LOCKS = ['shieldlog-live-1', 'shieldlog-live-2', 'shieldlog-live-3', 'shieldlog-live-4'];

/** While a stream may be open. */
export interface StreamTurn {
  /** Aborts where the stream has to end: the tab has been hidden for some time, or nothing is to be watched any more. */
  readonly signal: AbortSignal;
  /** Says that the stream is closed, so that another tab can have one. */
  readonly end: () => void;
}

/** What of `document` tells whether somebody can see the tab. */
export interface Tab {
  readonly hidden: boolean;
  addEventListener(name: 'visibilitychange', look: () => void): void;
  removeEventListener(name: 'visibilitychange', look: () => void): void;
}

/** What of `navigator.locks` a turn takes. `granted` gets null where `ifAvailable` is set and the lock is taken. */
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable: true } | { readonly signal: AbortSignal },
    granted: (lock: object | null) => Promise<void> | void,
  ): Promise<unknown>;
}

export interface TurnOptions {
  readonly tab: Tab;
  /** Null where streams share a connection, or where the browser has no locks. */
  readonly locks: Locks | null;
  /** Is called where all locks are taken, before the wait for one. */
  readonly onWait: () => void;
  /** Nothing is to be watched any more. */
  readonly signal: AbortSignal;
  /** How long a hidden tab keeps its stream; 30 s unless set. */
  readonly hiddenMs?: number;
}

/** Waits until the tab is seen, and for one of four locks that all tabs share. Throws the reason of `signal` where that aborts. */
export async function takeTurn({ tab, locks, onWait, signal, hiddenMs = HIDDEN_MS }: TurnOptions): Promise<StreamTurn> {
  for (;;) {
    await seen(tab, signal);
    const over = new AbortController();
    const whileSeen = AbortSignal.any([signal, over.signal]);
    abortWhenHidden(tab, over, hiddenMs);
    try {
      const release = locks === null ? () => {} : await anyLock(locks, onWait, whileSeen);
      return { signal: whileSeen, end: () => [over.abort(), release()] };
    } catch (error) {
      over.abort();
      if (!whileSeen.aborted) throw error;
      // A hidden tab does not wait for a lock; it does again when it is seen.
      signal.throwIfAborted();
    }
  }
}

async function seen(tab: Tab, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!tab.hidden) return;
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (tab.hidden && !signal.aborted) return;
      tab.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    tab.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
  });
  signal.throwIfAborted();
}

/** Aborts `over` once the tab has been hidden for `hiddenMs` without a break; looks no longer once it is aborted. */
function abortWhenHidden(tab: Tab, over: AbortController, hiddenMs: number): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (tab.hidden) timer = setTimeout(() => over.abort(), hiddenMs);
  };
  tab.addEventListener('visibilitychange', look);
  over.signal.addEventListener('abort', () => {
    clearTimeout(timer);
    tab.removeEventListener('visibilitychange', look);
  });
}

/** Takes any of the locks; returns the function that gives it back. */
async function anyLock(locks: Locks, onWait: () => void, signal: AbortSignal): Promise<() => void> {
  for (const name of LOCKS) {
    const release = await hold(locks, name, { ifAvailable: true });
    if (release !== null) return release;
  }
  onWait();
  const isDone = new AbortController();
  const waiting = LOCKS.map((name) => hold(locks, name, { signal: AbortSignal.any([signal, isDone.signal]) }));
  try {
    const first = await Promise.any(waiting);
    // Two may be given back at once.
    for (const other of waiting)
      void other.then(
        (release) => release !== first && release?.(),
        () => {},
      );
    return first ?? (() => {});
  } finally {
    isDone.abort();
  }
}

/** Null where `ifAvailable` is set and the lock is taken. */
function hold(locks: Locks, name: string, options: Parameters<Locks['request']>[1]): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    const granted = (lock: object | null): Promise<void> | void => {
      if (lock === null) return resolve(null);
      return new Promise<void>((release) => resolve(release));
    };
    locks.request(name, options, granted).catch(reject);
  });
}
