import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { GROUP_DIMENSIONS, type GroupDimension } from '../../query/event-fields.ts';
import type { ListedAlert } from '../api/alerts.ts';
import type { HistogramInWindow, Window } from '../api/explore.ts';
import { answered, eventTotal, isComplete, progress } from '../state/answers.ts';
import { apply, explorer } from '../state/explorer.ts';
import type { Comparison } from '../state/explorer-state.ts';
import { useFurtherAnswer } from '../state/further-answer.ts';
import type { Question } from '../state/question.ts';
import { Failed } from '../widgets/failed.ts';
import { countText, durationText, numberOf, shareText, timeOfDay, timeText, valueOrNone } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { openMenu } from '../widgets/menu.ts';
import { Value } from '../widgets/value-menu.ts';
import { alertsOf, alertWords } from './alert-marks.ts';
import { CompareButton } from './compare-button.ts';
import { PeakList } from './peak-list.ts';
import { colorOf } from './series-colors.ts';
import { type ShareOverTime, shareOverTime } from './share-over-time.ts';
import { type Layer, layersOf, stretchOf, totalsOf, wholeBuckets } from './stacked-bars.ts';
import { drawTimePlot, type TimePlot } from './time-plot.ts';

/** How many events there are, and when they were; a stretch of it can be drawn to look into. */
export function HistogramPanel() {
  const shown = answered.value;
  const histogram = shown?.answer.histogram ?? null;
  if (shown === null || histogram === null) {
    // The bar at the top tells screen readers.
    const awaited = shown === null && progress.value.kind === 'asking' ? html`<p class="awaited" aria-hidden="true">Searching…</p>` : null;
    return html`<section class="panel histogram" aria-label="Events over time"><div class="plot">${awaited}</div></section>`;
  }
  return html`<${Plot} histogram=${histogram} question=${shown.question} />`;
}

/** What can be done with a stretch of time. */
function openStretchMenu(anchor: HTMLElement, place: DOMRect, stretch: Window, closed: () => void): void {
  const { clock } = explorer.peek();
  const title = `${timeText(stretch.from, clock)} to ${timeText(stretch.to, clock)}`;
  const items = [
    { label: 'What is different here?', run: () => apply({ comparison: { kind: 'time', ...stretch } }) },
    { label: 'Zoom in', run: () => apply({ range: { kind: 'between', ...stretch }, comparison: null }) },
  ];
  openMenu({ anchor, content: () => ({ title, items }), place, closed });
}

const NO_ALERTS: readonly ListedAlert[] = [];

interface PlotProps {
  readonly histogram: HistogramInWindow;
  /** Its own one, which is not that of the state while another answer is awaited. */
  readonly question: Question;
}

function Plot({ histogram, question }: PlotProps) {
  const { from, to } = question.body;
  const by = question.body.histogram?.by ?? null;
  const { clock, comparison } = explorer.value;
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<TimePlot | null>(null);
  const hovered = useSignal<number | null>(null);
  const chosen = useSignal<Choice | null>(null);
  const layers = useMemo(() => layersOf(histogram), [histogram]);
  const colors = layers.map((layer, index) => colorOf(layer, index, by));
  const window = useMemo(() => ({ from, to }), [from, to]);
  const name = comparisonName(question.comparison);
  // The same question may be answered with more events.
  const counted = layers.map(({ total }) => total);
  const about = name === null || !isComplete.value ? null : JSON.stringify([question.zones, question.body, name, counted]);
  const further = useFurtherAnswer(about, (signal) => shareOverTime(question, histogram, signal));
  const share = name !== null && further.kind === 'found' ? further.found : null;
  const marked = comparison?.kind === 'time' ? comparison : null;
  const told = useFurtherAnswer(isComplete.value ? JSON.stringify([question.zones, window, counted]) : null, (signal) =>
    alertsOf(question, signal),
  );
  const alerts = told.kind === 'found' ? told.found : NO_ALERTS;

  const choose = (anchor: HTMLElement, place: DOMRect, stretch: Window): void =>
    openStretchMenu(anchor, place, stretch, () => {
      plot.current?.clear();
      chosen.value = null;
    });

  // The bars of another answer are other ones.
  useLayoutEffect(() => {
    [chosen.value, hovered.value] = [null, null];
  }, [histogram]);
  useEffect(() => {
    if (element.current === null) return;
    const host = element.current;
    const drawn = drawTimePlot(host, {
      histogram,
      window,
      layers,
      colors,
      clock,
      shares: share?.shares ?? null,
      marked,
      onHover: (bucket) => {
        hovered.value = bucket;
      },
      onBrush: (stretch, place) => choose(host, place, stretch),
    });
    plot.current = drawn;
    return drawn.destroy;
  }, [histogram, clock, marked, share]);
  useEffect(() => plot.current?.markAlerts(alerts), [histogram, clock, marked, share, alerts]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const next = afterKey(chosen.value, event, histogram.buckets);
    if (next === undefined) return;
    event.preventDefault();
    if (next === 'open') {
      const { first, end } = stretchBuckets(chosen.value ?? { at: 0, from: 0 });
      const host = event.currentTarget as HTMLElement;
      choose(host, plot.current?.place() ?? host.getBoundingClientRect(), stretchOf(histogram, window, first, end));
    } else if (next === null) {
      chosen.value = null;
      plot.current?.clear();
    } else {
      chosen.value = next;
      const { first, end } = stretchBuckets(next);
      plot.current?.select(first, end);
      hovered.value = next.at;
    }
  };

  const at = hovered.value;
  const wordsAt = (bucket: number): string =>
    `${bucketWords(histogram, window, bucket, clock)}${alertWords(alerts, stretchOf(histogram, window, bucket, bucket + 1))}`;
  return html`<section class="panel histogram" aria-label="Events over time">
    <header>
      <${Count} />
      <${BySelect} />
      <${CompareButton} />
      <${PeakList} histogram=${histogram} window=${window} />
    </header>
    <div
      class="plot"
      ref=${element}
      tabindex="0"
      role="slider"
      aria-label="Events over time"
      aria-valuemin="0"
      aria-valuemax=${histogram.buckets - 1}
      aria-valuenow=${at ?? 0}
      aria-valuetext=${`${wordsAt(at ?? 0)}${shareWords(share, name, at ?? 0)}`}
      aria-describedby="plot-keys"
      onKeyDown=${onKeyDown}
    />
    <p id="plot-keys" class="spoken">
      Arrow keys go from bar to bar, with Shift they choose a stretch, Enter opens what can be done with it.
    </p>
    ${further.kind !== 'failed' || name === null ? null : html`<${Failed} what="The share over time is not known:" ...${further} />`}
    ${told.kind === 'failed' ? html`<${Failed} what="Alerts are not known:" ...${told} />` : null}
    <${Legend}
      layers=${layers}
      colors=${colors}
      by=${by}
      bucket=${at}
      words=${at === null ? null : wordsAt(at)}
      share=${share}
      name=${name}
    />
  </section>`;
}

/** A stretch that the keyboard draws: from one bucket to another. */
interface Choice {
  readonly at: number;
  readonly from: number;
}

function stretchBuckets({ at, from }: Choice): { readonly first: number; readonly end: number } {
  return { first: Math.min(at, from), end: Math.max(at, from) + 1 };
}

/** The choice after a key; `open` opens the menu; undefined where the key says nothing here. */
function afterKey(choice: Choice | null, { key, shiftKey }: KeyboardEvent, buckets: number): Choice | null | 'open' | undefined {
  const { at, from } = choice ?? { at: -1, from: -1 };
  const targets: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buckets - 1 };
  if (key === 'Escape') return choice === null ? undefined : null;
  if (key === 'Enter' || key === ' ') return choice === null ? undefined : 'open';
  const target = targets[key];
  if (target === undefined) return undefined;
  const next = Math.min(buckets - 1, Math.max(0, target));
  return { at: next, from: shiftKey && from !== -1 ? from : next };
}

function bucketWords(histogram: HistogramInWindow, window: Window, bucket: number, clock: 'local' | 'utc'): string {
  const { from, to } = stretchOf(histogram, window, bucket, bucket + 1);
  const { first, end } = wholeBuckets(histogram, window);
  const cut = bucket >= first && bucket < end ? '' : ', the rest of the bar is outside of the time that is searched';
  return `${timeText(from, clock)} to ${timeOfDay(to, clock, 8)}: ${countText(totalsOf(histogram)[bucket] ?? 0)} events${cut}`;
}

/** What a line of shares is about; null where the comparison has none. */
function comparisonName(comparison: Comparison | null): string | null {
  if (comparison?.kind === 'line') return comparison.line;
  return comparison?.kind === 'value' ? `${comparison.field}:${comparison.value}` : null;
}

/** `, 12.5% of them country:NL`; empty where there is no share. */
function shareWords(share: ShareOverTime | null, name: string | null, bucket: number): string {
  const of = share?.shares[bucket] ?? null;
  return of === null ? '' : `, ${shareText(of, 1)} of them ${name}`;
}

/** How many events there are, read aloud when an answer comes. */
function Count() {
  const shown = answered.value;
  if (shown === null) return null;
  return html`<p role="status">
    <strong>${numberOf(eventTotal(shown.answer))}</strong> <span class="dim" aria-hidden="true">in ${durationText(shown.ms)}</span>
  </p>`;
}

function BySelect() {
  const { by } = explorer.value;
  const change = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }): void =>
    apply({ by: currentTarget.value === '' ? null : (currentTarget.value as GroupDimension) });
  return html`<label>Coloured by ${' '}
    <select name="by" value=${by ?? ''} onChange=${change}>
      <option value="">nothing</option>
      ${GROUP_DIMENSIONS.map((field) => html`<option value=${field}>${field}</option>`)}
    </select>
  </label>`;
}

interface LegendProps {
  readonly layers: readonly Layer[];
  readonly colors: readonly string[];
  readonly by: GroupDimension | null;
  /** The one whose counts are shown; null: those of all. */
  readonly bucket: number | null;
  readonly words: string | null;
  readonly share: ShareOverTime | null;
  /** What the share is of. */
  readonly name: string | null;
}

function Legend({ layers, colors, by, bucket, words, share, name }: LegendProps) {
  const of = bucket === null ? share?.whole : share?.shares[bucket];
  return html`<div class="legend">
    <ul>
      ${layers.map(
        ({ value, isOther, total, counts }, index) => html`<li key=${`${isOther} ${value}`}>
          <span class="swatch" style=${{ background: `var(${colors[index]})` }} />
          ${by === null || value === null ? (isOther ? 'others' : 'events') : html`<${Value} field=${by} value=${value} />`}
          <span class="number">${countText(bucket === null ? total : (counts[bucket] ?? 0))}</span>
        </li>`,
      )}
      ${
        share === null
          ? null
          : html`<li class="share-line">
              <span class="swatch" />
              share of <span class="code">${name}</span>
              <span class="number">${of === null || of === undefined ? '–' : shareText(of, 1)}</span>
            </li>`
      }
    </ul>
    <p class="dim">${words ?? (by === null ? '' : `by ${valueOrNone(by)}; draw a stretch to look into it`)}</p>
  </div>`;
}
