import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { searchLineNotes } from '../../query/request/search-line-notes.ts';
import { type LineFault, type LineSearch, printable, searchLineOf } from '../../query/search-line.ts';
import { answered, eventTotal, faultAt } from '../state/answers.ts';
import { bothSearches } from '../state/conditions.ts';
import { apply, explorer } from '../state/explorer.ts';
import { NO_SEARCH } from '../state/explorer-state.ts';
import { html } from '../widgets/html.ts';
import { Chips } from './chips.ts';
import { checkedLine } from './clause-fault.ts';
import { useCompletion } from './completion-list.ts';

/** What Enter does with the line: adds it to the conditions, or takes it for all of them. */
type Mode = 'add' | 'whole';

/** A line that was entered, and the search that came of it. */
interface EnteredLine {
  readonly line: string;
  readonly search: LineSearch;
}

/**
 * What a search says otherwise than it looks, a sentence each. What was quoted is known of the line that was entered last alone; of any
 * other search, as that of a link, its own line is looked at. `total` is what it finds, once that is known.
 */
function notesOf(search: LineSearch, entered: EnteredLine | null, total: number | undefined): readonly string[] {
  const whole = searchLineOf(search);
  const notes = (line: string): readonly string[] => searchLineNotes(line, total).map(({ note }) => note);
  if (entered?.search !== search) return whole === null ? [] : notes(whole);
  // Filters that were there before may exclude those of the line.
  const clauses = searchLineOf({ ...search, query: '' });
  return [...new Set([...notes(entered.line), ...(clauses === null ? [] : notes(clauses))])];
}

/** The search line: what is entered becomes chips, which can be taken back into the line. */
export function SearchLineBox() {
  const line = useSignal('');
  const mode = useSignal<Mode>('add');
  const fault = useSignal<LineFault | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const { search } = explorer.value;
  const whole = searchLineOf(search);
  const entered = useSignal<EnteredLine | null>(null);
  const last = answered.value;
  // The last answer stays while the same is asked again, so that notes do not come and go.
  const isOfSearch = last?.question.body.filters === search.filters && last.question.body.query === search.query;
  const notes = notesOf(search, entered.value, isOfSearch ? eventTotal(last.answer) : undefined);

  const completion = useCompletion({
    input,
    before: () => (mode.peek() === 'whole' ? NO_SEARCH : explorer.peek().search),
    onTake: (taken) => {
      [line.value, fault.value] = [taken, null];
    },
  });

  const submit = (event: Event): void => {
    event.preventDefault();
    completion.close();
    const read = checkedLine(line.value);
    if ('fault' in read) {
      fault.value = read;
      input.current?.focus();
      input.current?.setSelectionRange(read.position, read.position + 1);
      return;
    }
    const wanted = mode.value === 'whole' ? read : bothSearches(explorer.peek().search, read);
    entered.value = { line: line.value, search: wanted };
    apply({ search: wanted });
    leave();
  };
  const leave = (): void => {
    [line.value, mode.value, fault.value] = ['', 'add', null];
    completion.close();
  };
  const edit = (): void => {
    // A line reads escapes as what they stand for, and a field would obey marks of direction.
    [line.value, mode.value, fault.value] = [printable(whole ?? ''), 'whole', null];
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (completion.pressed(event)) {
      event.stopPropagation();
      event.preventDefault();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      event.preventDefault();
      // Out of an empty line, to where single keys mean something.
      if (line.value === '' && mode.value === 'add') button.current?.focus();
      else leave();
    }
    if (event.key === 'Backspace' && line.value === '' && mode.value === 'add' && whole !== null && whole !== '') {
      event.preventDefault();
      edit();
    }
  };
  const typed = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => {
    line.value = currentTarget.value;
    fault.value = null;
    completion.look();
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <div class="search-box">
      ${mode.value === 'whole' ? null : html`<${Chips} />`}
      <input
        ...${completion.attributes}
        name="line"
        class="line code"
        ref=${input}
        data-shortcut="/"
        aria-label="Search line"
        aria-invalid=${fault.value !== null || undefined}
        aria-describedby="line-fault"
        autocomplete="off"
        spellcheck=${false}
        placeholder="Search (/)   words   country:NL   -action:allowed   ip:198.51.100.0/24   url:~login"
        value=${line.value}
        onInput=${typed}
        onKeyDown=${onKeyDown}
      />
      ${
        whole === '' || mode.value === 'whole'
          ? null
          : html`<button
              class="quiet"
              disabled=${whole === null}
              title=${whole === null ? 'A line cannot say this search' : 'Edit the conditions as one line'}
              onClick=${edit}
            >
              Edit as text
            </button>`
      }
      <button type="submit" ref=${button}>Search</button>
      ${completion.list}
    </div>
    <${LineFaultText} line=${line.value} fault=${fault.value} />
    <div class="dim" role="status">${notes.map((note) => html`<p>${note}</p>`)}</div>
  </form>`;
}

interface LineFaultTextProps {
  readonly line: string;
  readonly fault: LineFault | null;
}

/** What is wrong, below the place where it is. */
function LineFaultText({ line, fault }: LineFaultTextProps) {
  const answer = faultAt('query');
  if (fault === null) return html`<p id="line-fault" class="fault" role="alert">${answer ?? ''}</p>`;
  const before = line.slice(Math.max(0, fault.position - 20), fault.position);
  return html`<p id="line-fault" class="fault" role="alert">
    ${fault.fault}
    <span class="code fault-place" aria-hidden="true">
      ${before}<mark>${line.slice(fault.position, fault.position + 1) || '␠'}</mark>${line.slice(fault.position + 1, fault.position + 20)}
    </span>
  </p>`;
}
