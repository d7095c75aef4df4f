import { useSignal } from '@preact/signals';
import { programNow } from '../api/program-clock.ts';
import { faultAt } from '../state/answers.ts';
import { apply, explorer } from '../state/explorer.ts';
import {
  earlierRange,
  lastWords,
  laterRange,
  PRESET_MINUTES,
  REACH_MINUTES,
  REACH_MS,
  type TimeRange,
  widerRange,
  windowOfRange,
} from '../state/time-range.ts';
import { timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { Popover } from '../widgets/popover.ts';
import { readTypedWindow, typedEnds, windowText } from './typed-time.ts';

/** The time that is searched: up to now, or between two times. */
export function TimePicker() {
  const { range, clock } = explorer.value;
  const words = rangeWords(range, clock);
  const fault = timeFault();
  return html`<${Popover}
    label=${`Time: ${words}`}
    title=${fault ?? 'Time (t)'}
    shortcut="t"
    class="time-button"
    isInvalid=${fault !== null}
    content=${(close: () => void) => html`<${TimeForm} close=${close} fault=${fault} />`}
  >
    ${words}
  <//>`;
}

/** Buttons that go to the time before and after, and to a longer one. */
export function TimeSteps() {
  const { range } = explorer.value;
  const step = (mark: string, words: string, next: (range: TimeRange, now: number) => TimeRange | null) => {
    const go = (): void => {
      const to = next(explorer.peek().range, programNow());
      if (to !== null) apply({ range: to, comparison: null });
    };
    const isUseless = next(range, programNow()) === null;
    return html`<button class="quiet" aria-label=${words} title=${words} aria-disabled=${isUseless} onClick=${go}>
      ${mark}
    </button>`;
  };
  return html`<span class="time-steps" role="group" aria-label="Other times">
    ${step('‹', 'Back: the time before', earlierRange)}${step('›', 'Forward: the time after', laterRange)}
    ${step('⤢', 'Zoom out: twice the time', widerRange)}
  </span>`;
}

/** What the program says about the time that was asked for, with times as a person reads them; null where nothing. */
export function timeFault(): string | null {
  const fault = faultAt('from') ?? faultAt('to');
  if (fault === null) return null;
  const { range, clock } = explorer.value;
  const now = programNow();
  const { from, to } = windowOfRange(range, now);
  if (from < now - REACH_MS) return `Searches reach ${REACH_MINUTES / 60} hours back, by now to ${timeText(now - REACH_MS, clock)}`;
  return to > now ? `Searches end now, at ${timeText(now, clock)}` : fault;
}

export function rangeWords(range: TimeRange, clock: 'local' | 'utc'): string {
  return range.kind === 'last' ? lastWords(range.minutes) : windowText(range, clock);
}

interface TimeFormProps {
  readonly close: () => void;
  /** What the program says about the time that was asked for. */
  readonly fault: string | null;
}

function TimeForm({ close, fault }: TimeFormProps) {
  const { range, clock } = explorer.value;
  /** What the texts stand for as long as nobody changes them; they have whole seconds alone. */
  const shown = useSignal(windowOfRange(range, programNow()));
  const from = useSignal(timeText(shown.value.from, clock));
  const to = useSignal(timeText(shown.value.to, clock));
  const read = readTypedWindow(from.value, to.value, clock, programNow(), shown.value);
  const choose = (next: TimeRange): void => {
    apply({ range: next, comparison: null });
    close();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!('end' in read)) choose({ kind: 'between', ...read });
  };
  const changeClock = (next: 'local' | 'utc'): void => {
    if (!('end' in read)) [shown.value, from.value, to.value] = [read, timeText(read.from, next), timeText(read.to, next)];
    apply({ clock: next }, { replace: true });
  };
  const input = (end: 'from' | 'to', text: string, value: typeof from) => html`<label>
    ${text}
    <input
      name=${end}
      class="code"
      autocomplete="off"
      spellcheck=${false}
      value=${value.value}
      aria-invalid=${('end' in read && read.end === end) || undefined}
      aria-describedby="time-fault"
      onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
        const ends = typedEnds(currentTarget.value, clock, programNow());
        if (ends === null) value.value = currentTarget.value;
        else [from.value, to.value] = [ends.from, ends.to];
      }}
    />
  </label>`;
  return html`<form class="time-form" onSubmit=${submit}>
    <ul class="presets" aria-label="Up to now, the last">
      ${PRESET_MINUTES.map((minutes) => {
        const isChosen = range.kind === 'last' && range.minutes === minutes;
        return html`<li>
          <button aria-pressed=${isChosen} onClick=${() => choose({ kind: 'last', minutes })}>
            ${lastWords(minutes).replace('last ', '')}
          </button>
        </li>`;
      })}
    </ul>
    ${input('from', 'From', from)} ${input('to', 'To', to)}
    <p id="time-fault" class="fault" role="status">${'end' in read ? read.message : (fault ?? '')}</p>
    <fieldset class="row">
      <legend>Clock</legend>
      ${(['local', 'utc'] as const).map(
        (one) => html`<label class="row">
          <input type="radio" name="clock" value=${one} checked=${clock === one} onChange=${() => changeClock(one)} />
          ${one === 'utc' ? 'UTC' : `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone})`}
        </label>`,
      )}
    </fieldset>
    <button type="submit" class="primary" disabled=${'end' in read}>Search this time</button>
  </form>`;
}
