import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { Facet } from '../../query/plan/search-result.ts';
import type { LineSearch } from '../../query/search-line.ts';
import { RequestFailed } from '../api/client.ts';
import { askExplorer } from '../api/explore.ts';
import { answeredFacets, isUpToDate, questionOfState } from '../state/answers.ts';
import { withClause } from '../state/conditions.ts';
import { knownFacets, type Question } from '../state/question.ts';
import { ruleNames } from '../state/rule-names.ts';
import { countText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import {
  askedClause,
  type Completion,
  completedLine,
  type KnownValues,
  MOST_COMPLETIONS,
  otherConditions,
  stillFitting,
  type TypedWord,
  typedWord,
  valueCompletions,
  wordCompletions,
} from './completion.ts';

/** The pause behind the last key before the program is asked. */
const PAUSE_MS = 200;
/** After so long nobody waits for values any more. */
const LONGEST_MS = 1_000;

/** Keys that move the caret. */
const MOVES = ['ArrowLeft', 'ArrowRight', 'Home', 'End'];

/** What the program has counted. */
interface Counted {
  /** The word without its text, the other conditions, and the window. */
  readonly key: string;
  /** What was typed then. */
  readonly text: string;
  readonly total: number;
  readonly facet: Facet | undefined;
}

/** What is typed, and the line that it stands in. */
interface Typed {
  readonly word: TypedWord;
  readonly line: string;
  readonly caret: number;
  /** Null where the rest of the line is no search: then nothing is counted. */
  readonly others: LineSearch | null;
  /** The one of the page, whose events are counted. */
  readonly question: Question;
}

interface CompletionOptions {
  readonly input: RefObject<HTMLInputElement | null>;
  /** The conditions that the line is added to. */
  readonly before: () => LineSearch;
  readonly onTake: (line: string) => void;
}

/** The list below the search line, as the pattern of a combobox has it: nothing is chosen before the arrow down, and Escape closes it. */
export function useCompletion({ input, before, onTake }: CompletionOptions) {
  const id = useId();
  const typed = useSignal<Typed | null>(null);
  const counted = useSignal<Counted | null>(null);
  const failed = useSignal<string | null>(null);
  /** The text of the chosen completion. */
  const chosen = useSignal<string | null>(null);
  const underWay = useRef(new AbortController());

  const close = (): void => {
    underWay.current.abort();
    [typed.value, chosen.value, failed.value] = [null, null, null];
  };
  const ask = async (now: Typed, search: LineSearch, signal: AbortSignal): Promise<void> => {
    const { field, text } = now.word;
    const { zones, body } = now.question;
    const facets = field === null ? {} : { facets: [{ field, limit: MOST_COMPLETIONS, order: 'count' as const }] };
    const asked = { from: body.from, to: body.to, ...search, pageSize: 0, ...facets };
    try {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
      const answer = await askExplorer(zones, asked, inTime);
      counted.value = { key: keyOf(now), text, total: answer.total, facet: answer.facets?.[0] };
    } catch (error) {
      if (signal.aborted) return;
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      if (!isLate && !(error instanceof RequestFailed)) throw error;
      failed.value = isLate ? 'The values did not come within a second' : error.message;
    }
  };
  /** Looks at what stands before the caret. `isWanted`: also where nothing does. */
  const look = (isWanted: boolean): void => {
    close();
    const { value: line = '', selectionStart } = input.current ?? {};
    const caret = selectionStart ?? line.length;
    const word = typedWord(line, caret);
    if (word === null || (word.field === null && word.text === '' && !isWanted)) return;
    const now = { word, line, caret, others: otherConditions(before(), line, word, caret), question: questionOfState() };
    typed.value = now;
    const clause = askedClause(word);
    const isKnown = counted.peek()?.key === keyOf(now) && counted.peek()?.text === word.text;
    if (clause === null || now.others === null || isKnown) return;
    const search = withClause(now.others, 'filters', clause);
    const mine = new AbortController();
    underWay.current = mine;
    const timer = setTimeout(() => void ask(now, search, mine.signal), PAUSE_MS);
    mine.signal.addEventListener('abort', () => clearTimeout(timer));
  };
  const take = (text: string): void => {
    if (typed.value === null) return;
    const done = completedLine(typed.value.line, typed.value.word, typed.value.caret, text);
    onTake(done.line);
    if (input.current === null) return;
    // At once, so that what is looked at is the new line.
    input.current.value = done.line;
    input.current.setSelectionRange(done.caret, done.caret);
    look(false);
  };

  const completions = typed.value === null ? [] : completionsOf(typed.value, counted.value);
  const at = completions.findIndex(({ text }) => text === chosen.value);
  const isOpen = completions.length > 0;
  const step = (by: number): void => {
    if (!isOpen) {
      look(true);
      return;
    }
    // One place more than there are completions: that of none.
    const places = completions.length + 1;
    chosen.value = completions[((at + 1 + by + places) % places) - 1]?.text ?? null;
  };
  /** Returns whether the key was for the list. */
  const pressed = ({ key, isComposing, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean => {
    if (isComposing || altKey || ctrlKey || metaKey || shiftKey) return false;
    const { text } = completions[at] ?? {};
    if (key === 'ArrowDown') step(1);
    else if (key === 'ArrowUp' && isOpen) step(-1);
    else if (key === 'Enter' && text !== undefined) take(text);
    else if (key === 'Escape' && isOpen) close();
    else {
      // What was typed is no longer what stands before the caret.
      if (MOVES.includes(key)) close();
      return false;
    }
    return true;
  };
  const list = html`<div class="completion" hidden=${!isOpen && failed.value === null}>
    <ul id=${id} role="listbox" aria-label="Completions" hidden=${!isOpen}>
      ${completions.map(
        ({ text, count, name }, index) => html`<li
          key=${text}
          id=${`${id}-${index}`}
          role="option"
          aria-selected=${index === at}
          onMouseDown=${(event: Event) => event.preventDefault()}
          onClick=${() => take(text)}
        >
          <span class="code cut">${text}</span> ${name === undefined ? null : html`<span class="dim cut">${name}</span>`}${' '}
          <span class="number">${count === null ? '' : countText(count)}</span>
        </li>`,
      )}
    </ul>
    <p class="dim">${failed.value ?? ''}</p>
  </div>`;
  const attributes = {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': isOpen,
    'aria-controls': id,
    'aria-activedescendant': at === -1 ? undefined : `${id}-${at}`,
    onBlur: close,
    onClick: close,
  };
  return { attributes, list, look: () => look(false), close, pressed };
}

function keyOf({ word: { text: _text, ...word }, others, question: { zones, body } }: Typed): string {
  return JSON.stringify([word, others, zones, body.from, body.to]);
}

function completionsOf(now: Typed, counted: Counted | null): readonly Completion[] {
  const { word } = now;
  const found = counted?.key === keyOf(now) ? counted : null;
  if (word.field === null) return wordCompletions(word, found?.text === word.text ? found.total : null, knownValues(now));
  // What was counted for a longer word has no others.
  const facet = word.text.startsWith(found?.text ?? word.text) ? found?.facet : undefined;
  return valueCompletions(word, facet === undefined ? undefined : stillFitting(facet, word));
}

/** What the last answer has. Its counts are those of the search with one condition more, unless the line has others. */
function knownValues({ others }: Typed): KnownValues {
  const last = answeredFacets.value;
  const asked = last?.question.body;
  const isOfOthers =
    JSON.stringify([asked?.query, asked?.filters, asked?.exclude]) ===
    JSON.stringify(others && [others.query, others.filters, others.exclude]);
  const facets = last === null ? [] : knownFacets(last);
  return { facets, ruleNames: ruleNames.value, areCounted: isUpToDate.value && isOfOthers };
}
