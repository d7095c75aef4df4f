import { useEffect, useState } from 'preact/hooks';
import { accessKey } from '../api/access-key.ts';
import { type Failure, RequestFailed } from '../api/client.ts';

/** What is known of an answer that one part of the page asks for by itself. */
export type FurtherAnswer<Found> =
  | { readonly kind: 'asking' }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly askAgain: () => void }
  | { readonly kind: 'found'; readonly found: Found };

const ASKING = { kind: 'asking' } as const;

/**
 * Asks a further question as long as the component is drawn: at once, and again where `about` changes, which names the question, or the
 * access key does. A question that is no longer drawn is given up. A null `about` asks nothing yet.
 */
export function useFurtherAnswer<Found>(about: string | null, ask: (signal: AbortSignal) => Promise<Found>): FurtherAnswer<Found> {
  const [turn, setTurn] = useState(0);
  const [last, setLast] = useState<{ readonly about: string; readonly answer: FurtherAnswer<Found> } | null>(null);
  useEffect(() => {
    if (about === null) return;
    const abort = new AbortController();
    const set = (answer: FurtherAnswer<Found>): void => {
      if (!abort.signal.aborted) setLast({ about, answer });
    };
    set(ASKING);
    ask(abort.signal).then(
      (found) => set({ kind: 'found', found }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (!(error instanceof RequestFailed)) throw error;
        set({ kind: 'failed', failure: error.failure, askAgain: () => setTurn(turn + 1) });
      },
    );
    return () => abort.abort();
  }, [about, turn, accessKey.value]);
  // Between a change and its effect, what is known is about another question.
  return last?.about === about ? last.answer : ASKING;
}
