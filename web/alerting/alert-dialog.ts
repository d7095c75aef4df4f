import { useRef, useState } from 'preact/hooks';
import { MINUTE_MS } from '../../query/durations.ts';
import { GROUP_DIMENSIONS, type GroupDimension } from '../../query/event-fields.ts';
import { askUpToNow } from '../api/client.ts';
import { peakThreshold } from '../overview/peaks.ts';
import { explorer } from '../state/explorer.ts';
import { zonesText } from '../state/explorer-state.ts';
import { useFurtherAnswer } from '../state/further-answer.ts';
import { lastWords, minutesText, REACH_MINUTES } from '../state/time-range.ts';
import { writeClipboard } from '../widgets/clipboard.ts';
import { Dialog } from '../widgets/dialog.ts';
import { Failed } from '../widgets/failed.ts';
import { numberOf } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { COUNTED_GROUPS, type CountedStretch, countStretches, stretchesAt } from './counted-stretches.ts';
import { highestTotals, previewOf } from './rule-preview.ts';
import { RULE_NAME, type RuleDraft, ruleText, suggestedName } from './rule-text.ts';
import { ThresholdPlot } from './threshold-plot.ts';

/** Lengths of windows that are offered. */
const WINDOW_MINUTES = [1, 2, 5, 10, 15, 30, 60, 2 * 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60];
const USUAL_MINUTES = 10;
/** What a rule has that does not say it. */
const QUIET_MINUTES = 30;
/** What a rule is grouped by at most. */
const MOST_BY = 3;
const MOST_EVENTS = 1_000_000_000;

type Input = Event & { readonly currentTarget: HTMLInputElement };
type Select = Event & { readonly currentTarget: HTMLSelectElement };

/** A rule of alerts for the search, tried on the last three days. It is shown as text to copy, and kept nowhere. */
export function AlertDialog({ onClose }: { readonly onClose: () => void }) {
  const { zones, search, groupBy } = explorer.value;
  const [name, setName] = useState(() => suggestedName(search));
  const [by, setBy] = useState<readonly GroupDimension[]>(groupBy.slice(0, MOST_BY));
  const [windowMinutes, setWindow] = useState(USUAL_MINUTES);
  /** Null: what stands out. */
  const [typed, setTyped] = useState<number | null>(null);
  const counted = { zones: zonesText(zones), search, by, windowMinutes };
  const answer = useFurtherAnswer(JSON.stringify(counted), (signal) =>
    askUpToNow(
      (now) => stretchesAt(now, windowMinutes),
      (stretches) => countStretches(counted, stretches, signal),
    ),
  );
  const halfMs = (windowMinutes * MINUTE_MS) / 2;
  const totals = answer.kind === 'found' ? highestTotals(answer.found, halfMs) : [];
  const atLeast = typed ?? Math.floor(peakThreshold(totals)) + 1;
  const draft: RuleDraft = { name, zones, search, by, atLeast, windowMinutes };
  return html`<${Dialog} title="Alert on this" class="alert-rule" onClose=${onClose}>
    <p>What a rule of alerts for this search would have made of the ${lastWords(REACH_MINUTES)}, whatever time is shown.</p>
    <div class="alert-choices">
      <label>
        At least
        <input
          name="atLeast"
          type="number"
          min="1"
          max=${MOST_EVENTS}
          value=${atLeast}
          onInput=${({ currentTarget }: Input) => {
            if (currentTarget.validity.valid && currentTarget.value !== '') setTyped(Number(currentTarget.value));
          }}
        />
        events
      </label>
      <label>
        in windows of
        <select name="window" value=${windowMinutes} onChange=${({ currentTarget }: Select) => setWindow(Number(currentTarget.value))}>
          ${WINDOW_MINUTES.map((minutes) => html`<option value=${minutes}>${minutesText(minutes)}</option>`)}
        </select>
      </label>
      <${BySelects} by=${by} onBy=${setBy} />
    </div>
    ${
      answer.kind === 'found'
        ? html`<${Preview} stretches=${answer.found} totals=${totals} draft=${draft} onThreshold=${setTyped} />`
        : answer.kind === 'asking'
          ? html`<p class="threshold-plot awaited" role="status">Counting three days…</p>`
          : html`<${Failed} what="The events cannot be counted:" ...${answer} />`
    }
    <label class="alert-name">
      Name
      <input
        name="rule"
        class="code"
        autocomplete="off"
        spellcheck=${false}
        value=${name}
        aria-invalid=${!RULE_NAME.test(name) || undefined}
        aria-describedby="rule-name-fault"
        onInput=${({ currentTarget }: Input) => setName(currentTarget.value)}
      />
    </label>
    <p id="rule-name-fault" class="fault" role="status">
      ${RULE_NAME.test(name) ? '' : 'A name has 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first'}
    </p>
    <${RuleFile} draft=${draft} />
  <//>`;
}

interface BySelectsProps {
  readonly by: readonly GroupDimension[];
  readonly onBy: (by: readonly GroupDimension[]) => void;
}

/** One field after the other by which events are counted; the one behind the last is empty. */
function BySelects({ by, onBy }: BySelectsProps) {
  const choose = (at: number, value: string): void => {
    const chosen = GROUP_DIMENSIONS.find((field) => field === value);
    onBy([...by.slice(0, at), ...(chosen === undefined ? [] : [chosen]), ...by.slice(at + 1)]);
  };
  return Array.from({ length: Math.min(MOST_BY, by.length + 1) }, (_, at) => {
    const offered = GROUP_DIMENSIONS.filter((field) => field === by[at] || !by.includes(field));
    return html`<label key=${at}>
      ${at === 0 ? 'by' : 'and by'}
      <select name="by" value=${by[at] ?? ''} onChange=${({ currentTarget }: Select) => choose(at, currentTarget.value)}>
        <option value="">${at === 0 ? 'nothing, all together' : 'nothing else'}</option>
        ${offered.map((field) => html`<option key=${field} value=${field}>${field}</option>`)}
      </select>
    </label>`;
  });
}

interface PreviewProps {
  readonly stretches: readonly CountedStretch[];
  readonly totals: readonly number[];
  readonly draft: RuleDraft;
  readonly onThreshold: (threshold: number) => void;
}

function Preview({ stretches, totals, draft: { by, atLeast, windowMinutes }, onThreshold }: PreviewProps) {
  const windowMs = windowMinutes * MINUTE_MS;
  const { hits, alerts, isWhole } = previewOf(stretches, { atLeast, windowMs, quietMs: QUIET_MINUTES * MINUTE_MS });
  const first = stretches[0]?.from ?? 0;
  const window = { from: first, to: first + (totals.length * windowMs) / 2 };
  const found = `${isWhole ? '' : 'at least '}${numberOf(hits, 'hit')} in ${numberOf(alerts, 'alert')}`;
  const mostElsewhere = Math.max(...stretches.map((stretch) => stretch.mostElsewhere));
  return html`<${ThresholdPlot}
      totals=${totals}
      window=${window}
      clock=${explorer.value.clock}
      threshold=${atLeast}
      words=${`At least ${numberOf(atLeast, 'event')}: ${found}`}
      onThreshold=${onThreshold}
    />
    <p class="alert-preview">
      <strong>${found}</strong>
      ${' '}<span class="dim">
        A bar is a window of ${minutesText(windowMinutes)}${by.length === 0 ? '' : ', as high as its largest group'};
        one begins every half of that.
        Hits${by.length === 0 ? '' : ' of a group'} less than ${QUIET_MINUTES}m apart are one alert.
        ${
          isWhole
            ? ''
            : html` Only the ${COUNTED_GROUPS} largest groups of each stretch of time are counted;
              from ${numberOf(mostElsewhere + 1, 'event')} on, no other can hit.`
        }
      </span>
    </p>`;
}

function RuleFile({ draft }: { readonly draft: RuleDraft }) {
  const host = useRef<HTMLDivElement>(null);
  const [done, setDone] = useState('');
  const text = ruleText(draft);
  const copy = async (): Promise<void> => {
    try {
      await writeClipboard(text, host.current ?? document.body);
      setDone('Copied');
    } catch (error) {
      setDone(`The browser did not let it be copied: ${error instanceof Error ? error.message : error}`);
    }
  };
  return html`<div class="alert-file" ref=${host}>
    <label>The rule, for a file of the folder of rules <textarea class="code" readonly rows="8" wrap="off" value=${text} /></label>
    <p class="dim">
      The folder is that of ALERTS, which the program reads at its start. A line receivers: [NAME] says who of ALERT_RECEIVERS is told;
      without one, nobody is.
    </p>
    <p>
      <button class="primary" disabled=${!RULE_NAME.test(draft.name)} onClick=${() => void copy()}>Copy</button>
      ${' '}<span role="status">${done}</span>
    </p>
  </div>`;
}
