import { useEffect, useState } from 'preact/hooks';
import { RequestFailed } from '../api/client.ts';
import { explore } from '../api/explore.ts';
import { programNow } from '../api/program-clock.ts';
import { answered, askAgain, progress } from '../state/answers.ts';
import { explorer } from '../state/explorer.ts';
import { countText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { conditionsOf } from './event-pages.ts';

const PAUSE_MS = 10_000;

/** How many events have come since the last answer, as a button that shows them. Counting them is cheap: no row is asked for. */
export function NewEvents() {
  const now = answered.value;
  const isOpenEnded = explorer.value.range.kind === 'last';
  const [count, setCount] = useState(0);
  const [lost, setLost] = useState<string | null>(null);
  useEffect(() => {
    setCount(0);
    setLost(null);
    if (now === null || !isOpenEnded) return;
    const abort = new AbortController();
    const { question } = now;
    const notCounted = (error: unknown): void => {
      if (!(error instanceof RequestFailed)) throw error;
      setLost(error.failure.message);
      // Else the dialog for a key that somebody has closed would come again and again.
      if (error.failure.status === 401) clearInterval(timer);
    };
    const countNow = async (): Promise<void> => {
      const window = { from: question.body.to, to: programNow() };
      if (document.hidden || progress.peek().kind === 'asking' || window.from >= window.to) return;
      try {
        const { total } = await explore(question.zones, { ...window, ...conditionsOf(question), pageSize: 0 }, abort.signal);
        if (!abort.signal.aborted) [setCount(total), setLost(null)];
      } catch (error) {
        if (!abort.signal.aborted) notCounted(error);
      }
    };
    const timer = setInterval(() => void countNow(), PAUSE_MS);
    return () => [abort.abort(), clearInterval(timer)];
  }, [now, isOpenEnded]);
  const words = `${countText(count)} new ${count === 1 ? 'event' : 'events'}`;
  return html`<span class="new-events" role="status">
    ${lost === null ? null : html`<span class="failed">New events are not counted: ${lost}</span>`}
    ${count === 0 ? null : html`<button type="button" onClick=${askAgain}>${words}</button>`}
  </span>`;
}
