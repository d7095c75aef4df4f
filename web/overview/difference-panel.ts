import { useSignal } from '@preact/signals';
import type { Facet } from '../../query/plan/search-result.ts';
import { askUpToNow } from '../api/client.ts';
import { askExplorer, type Window } from '../api/explore.ts';
import { type Answered, answered, answeredFacets, eventTotal, isComplete, lateFailure } from '../state/answers.ts';
import { bothSearches, type FieldValue, searchOfComparison } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { type Comparison, NO_SEARCH } from '../state/explorer-state.ts';
import { useFurtherAnswer } from '../state/further-answer.ts';
import { knownFacets, type Question, withDayBefore } from '../state/question.ts';
import { ruleNameOf } from '../state/rule-names.ts';
import { Failed } from '../widgets/failed.ts';
import { countText, shareText, timeText, valueOrNone } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { moveAmongValues } from '../widgets/value-keys.ts';
import { filterBy, filterByAll, Value } from '../widgets/value-menu.ts';
import { bestConjunction, type Conjunction, combinedValues, countCombinations } from './conjunction.ts';
import { type Difference, differencesOf, type Totals } from './difference.ts';
import { firstAndLast, withBarsBeside } from './first-and-last.ts';

/** Values that are shown before somebody asks for more. */
const SHOWN = 20;

/** The values that the chosen part has more of than the rest, in one list. */
export function DifferencePanel() {
  const shown = answered.value;
  if (explorer.value.comparison === null || shown === null) return null;
  const { comparison } = shown.question;
  if (comparison?.kind === 'before') return html`<${DifferencesFromBefore} shown=${shown} comparison=${comparison} />`;
  const { selectedTotal } = shown.answer;
  if (comparison === null || selectedTotal === null) return null;
  // A value that all events of the part have by what it is would stand first.
  const given = searchOfComparison(comparison)?.filters.filter(({ op }) => op === 'eq' || op === 'in') ?? [];
  const all = answeredFacets.value;
  const facets = all === null ? [] : knownFacets(all).filter((facet) => !given.some(({ field }) => field === facet.field));
  const totals = { all: eventTotal(shown.answer), selected: selectedTotal };
  return html`<${Differences} shown=${shown} comparison=${comparison} facets=${facets} totals=${totals} isWhole=${isComplete.value} />`;
}

interface BeforeProps {
  readonly shown: Answered;
  readonly comparison: Comparison;
}

/** All events of an answer against those of the 24 hours before, by a question over both. */
function DifferencesFromBefore({ shown, comparison }: BeforeProps) {
  const { question, answer } = shown;
  const about = isComplete.value ? JSON.stringify([question.zones, question.body, eventTotal(answer)]) : null;
  const further = useFurtherAnswer(about, (signal) =>
    askUpToNow(
      (now) => withDayBefore(question, now),
      async (body) => ({ body, ...(await askExplorer(question.zones, body, signal)) }),
    ),
  );
  if (further.kind === 'failed') {
    return html`<section class="panel difference">
      <${Failed} what="The 24 hours before are not known:" ...${further} />
      <button onClick=${() => apply({ comparison: null })}>Close</button>
    </section>`;
  }
  if (further.kind === 'asking')
    return html`<section class="panel difference"><p role="status">Looking at the 24 hours before…</p></section>`;
  const { body, facets, selectedTotal, total } = further.found;
  const over = { question: { ...question, body }, answer };
  const totals = { all: total, selected: selectedTotal ?? 0 };
  return html`<${Differences} shown=${over} comparison=${comparison} facets=${facets ?? []} totals=${totals} isWhole=${true} />`;
}

interface DifferencesProps extends BeforeProps {
  readonly facets: readonly Facet[];
  /** Events of the question, and of the part. */
  readonly totals: Totals;
  /** Whether no facet is awaited any more. */
  readonly isWhole: boolean;
}

function Differences({ shown, comparison, facets, totals, isWhole }: DifferencesProps) {
  const showsAll = useSignal(false);
  const isOneSided = totals.selected === 0 || totals.selected === totals.all;
  const differences = isOneSided ? [] : differencesOf(facets, totals);
  const listed = differences.slice(0, showsAll.value ? differences.length : SHOWN);
  const { conjunction, isAwaited, fault } = useConjunction(shown.question, differences, totals, isWhole);
  const line = conjunction?.values ?? listed.slice(0, 1);
  return html`<section class="panel difference" aria-labelledby="difference-title">
    <header>
      <h2 id="difference-title">What is different ${wordsOf(comparison, shown.question.body, explorer.value.clock)}</h2>
      <p class="dim" role="status">${countText(totals.selected)} events against ${countText(totals.all - totals.selected)} others</p>
      <span class="spacer" />
      <${Narrow} comparison=${comparison} />
      <button title="Stop comparing (x)" data-shortcut="x" onClick=${() => apply({ comparison: null })}>Close</button>
    </header>
    ${
      comparison.kind !== 'time' || line.length === 0 || isAwaited
        ? null
        : html`<${FirstAndLast} shown=${shown} stretch=${comparison} line=${line} />`
    }
    ${listed.length === 0 ? html`<p>${whyNothing(totals)}</p>` : html`<${List} differences=${listed} conjunction=${conjunction} />`}
    ${isWhole ? null : html`<p class="dim">The urls are still counted…</p>`}
    ${lateFailure.value === null ? null : html`<p class="failed" role="alert">The urls are not counted: ${lateFailure.value.message}</p>`}
    ${fault === null ? null : html`<${Failed} what="Which values come together is not known:" ...${fault} />`}
    ${
      listed.length < differences.length
        ? html`<button class="quiet" onClick=${() => {
            showsAll.value = true;
          }}>Show all ${differences.length}</button>`
        : null
    }
  </section>`;
}

/** The values that come together more often than the best one alone; asked for once all differences are there. */
function useConjunction(question: Question, differences: readonly Difference[], totals: Totals, isWhole: boolean) {
  const values = combinedValues(differences);
  const isAsked = isWhole && new Set(values.map(({ field }) => field)).size > 1;
  const about = isAsked ? JSON.stringify([question.zones, question.body, values, totals]) : null;
  const further = useFurtherAnswer(about, (signal) => countCombinations(question, values, signal));
  return {
    conjunction: isAsked && further.kind === 'found' ? bestConjunction(values, further.found, totals, differences[0]) : null,
    isAwaited: !isWhole || (isAsked && further.kind === 'asking'),
    fault: isAsked && further.kind === 'failed' ? further : null,
  };
}

function wordsOf(comparison: Comparison, { from }: Window, clock: 'local' | 'utc'): string {
  if (comparison.kind === 'before') return `in this time from that before it, since ${timeText(from, clock)}`;
  if (comparison.kind === 'value') return `about ${comparison.field} ${valueOrNone(comparison.value)}`;
  if (comparison.kind === 'line') return `about ${comparison.line}`;
  return `from ${timeText(comparison.from, clock)} to ${timeText(comparison.to, clock)}`;
}

function whyNothing({ all, selected }: { readonly all: number; readonly selected: number }): string {
  if (selected === 0) return 'No event is in the part that was chosen.';
  if (selected === all) return 'All events are in the part that was chosen, so nothing is left to hold it against.';
  return 'Nothing: no value has a larger share in it than in the rest by more than chance.';
}

interface FirstAndLastProps {
  readonly shown: Answered;
  readonly stretch: Window;
  readonly line: readonly FieldValue[];
}

/** When what stands first began and ended. A peak says that by its bars alone, and an attack need not fill its first and last one. */
function FirstAndLast({ shown: { question, answer }, stretch, line }: FirstAndLastProps) {
  const { clock } = explorer.value;
  const { histogram } = answer;
  const values = line.map(({ field, value }) => ({ field, value }));
  const bars = histogram === null ? stretch : withBarsBeside(histogram, question.body, stretch);
  const about = JSON.stringify([
    question.zones,
    question.body.query,
    question.body.filters,
    question.body.exclude,
    values,
    bars.from,
    bars.to,
    answer.selectedTotal,
  ]);
  const further = useFurtherAnswer(about, (signal) => firstAndLast(question, values, bars, signal));
  if (further.kind === 'failed') {
    return html`<${Failed} what="When it began is not known:" ...${further} />`;
  }
  const found = further.kind === 'found' ? further.found : null;
  const name = values.map(({ field, value }) => `${field} ${valueOrNone(value)}`).join(' and ');
  return html`<p class="first-and-last" role="status">
    ${
      found === null
        ? ''
        : html`${name}: the first event at <strong>${timeText(found.first, clock)}</strong>, the last at
            ${' '}<strong>${timeText(found.last, clock)}</strong>`
    }
  </p>`;
}

interface NarrowProps {
  readonly comparison: Comparison;
}

/** Makes the chosen part the whole. */
function Narrow({ comparison }: NarrowProps) {
  if (comparison.kind === 'before') return null;
  if (comparison.kind === 'value') {
    const { field, value } = comparison;
    const narrow = (): void => {
      apply({ comparison: null }, { replace: true });
      filterBy('filters', field, value);
    };
    return html`<button onClick=${narrow}>Filter in</button>`;
  }
  if (comparison.kind === 'line') {
    const narrow = (): void => {
      const search = bothSearches(explorer.peek().search, searchOfComparison(comparison) ?? NO_SEARCH);
      apply({ search, comparison: null }, { words: `Filtered in: ${comparison.line}` });
    };
    return html`<button onClick=${narrow}>Filter in</button>`;
  }
  const { from, to } = comparison;
  return html`<button onClick=${() => apply({ range: { kind: 'between', from, to }, comparison: null })}>Zoom in</button>`;
}

interface ListProps {
  readonly differences: readonly Difference[];
  /** Stands before them. */
  readonly conjunction: Conjunction | null;
}

function List({ differences, conjunction }: ListProps) {
  return html`<table class="differences" onKeyDown=${moveAmongValues}>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Value</th>
        <th scope="col" class="bars">Share in it, and in the rest</th>
        <th scope="col" class="number">Events</th>
      </tr>
    </thead>
    <tbody>
      ${conjunction === null ? null : html`<${ConjunctionLine} key="together" conjunction=${conjunction} />`}
      ${differences.map((one, index) => {
        const isStop = index === 0 && conjunction === null;
        return html`<${Line} key=${`${one.field} ${one.value}`} difference=${one} isStop=${isStop} />`;
      })}
    </tbody>
  </table>`;
}

interface LineProps {
  readonly difference: Difference;
  /** Whether Tab comes by its value. */
  readonly isStop: boolean;
}

function Line({ difference: { field, value, ...numbers }, isStop }: LineProps) {
  return html`<tr>
    <th scope="row" class="dim">${field}</th>
    <td class="code"><${Value} field=${field} value=${value} isStop=${isStop} /></td>
    <${Shares} ...${numbers} />
  </tr>`;
}

/** Values that come together, as one button that filters by all of them. */
function ConjunctionLine({ conjunction: { values, ...numbers } }: { readonly conjunction: Conjunction }) {
  const name = ({ field, value }: FieldValue): string => `${value} ${field === 'ruleId' ? ruleNameOf(value) : ''}`.trim();
  return html`<tr>
    <th scope="row" class="dim">${values.map(({ field }) => field).join(' + ')}</th>
    <td class="code">
      <button class="value" title="Filter in all of them" onClick=${() => filterByAll(values)}>
        ${values.map((one, index) => html`${index === 0 ? null : html` <span class="dim">and</span> `}${name(one)}`)}
      </button>
    </td>
    <${Shares} ...${numbers} />
  </tr>`;
}

function Shares({ selected, selectedShare, restShare }: Pick<Difference, 'selected' | 'selectedShare' | 'restShare'>) {
  const bar = (name: string, share: number) => html`<span class="pair-line">
    <span class="track"><span class=${`pair-bar ${name}`} style=${{ width: `${100 * share}%` }} /></span>
    <span class="number">${shareText(share, 1)}</span>
  </span>`;
  return html`<td class="bars">${bar('in', selectedShare)}${bar('out', restShare)}</td>
    <td class="number">${countText(selected)}</td>`;
}
