import { useEffect, useState } from 'preact/hooks';
import { RequestFailed } from '../api/client.ts';
import { askExplorer } from '../api/explore.ts';
import { programNow } from '../api/program-clock.ts';
import { type Answered, answered, askAgain, isUpToDate } from '../state/answers.ts';
import { conditionsOfQuestion } from '../state/question.ts';
import { numberOf } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';

const PAUSE_MS = 10_000;

/** What has come since an answer. */
interface News {
  readonly since: Answered;
  readonly count: number;
  /** Why it is not counted. */
  readonly lost: string | null;
}

/** How many events have come since the last answer, as a button that shows them. Counting them is cheap: no row is asked for. */
export function NewEvents() {
  const now = answered.value;
  const [news, setNews] = useState<News | null>(null);
  useEffect(() => {
    if (now?.question.range.kind !== 'last') return;
    const abort = new AbortController();
    const { question } = now;
    const notCounted = (error: unknown): void => {
      if (!(error instanceof RequestFailed)) throw error;
      setNews((before) => ({ since: now, count: before?.since === now ? before.count : 0, lost: error.failure.message }));
      // Else the dialog for a key that somebody has closed would come again and again.
      if (error.failure.status === 401) clearInterval(timer);
    };
    const countNow = async (): Promise<void> => {
      const window = { from: question.body.to, to: programNow() };
      if (document.hidden || !isUpToDate.peek() || window.from >= window.to) return;
      try {
        const { total } = await askExplorer(question.zones, { ...window, ...conditionsOfQuestion(question), pageSize: 0 }, abort.signal);
        if (!abort.signal.aborted) setNews({ since: now, count: total, lost: null });
      } catch (error) {
        if (!abort.signal.aborted) notCounted(error);
      }
    };
    const timer = setInterval(() => void countNow(), PAUSE_MS);
    return () => [abort.abort(), clearInterval(timer)];
  }, [now]);
  // While another answer is awaited, the new events of this one are not those that are looked for.
  const { count, lost } = isUpToDate.value && news !== null && news.since === now ? news : { count: 0, lost: null };
  return html`<span class="new-events" role="status">
    ${lost === null ? null : html`<span class="failed">New events are not counted: ${lost}</span>`}
    ${count === 0 ? null : html`<button onClick=${askAgain}>${numberOf(count, 'new event')}</button>`}
  </span>`;
}
