import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { TOLERANCE_SECONDS } from '../../query/search-limits.ts';
import { accessKey } from '../api/access-key.ts';
import { askUpToNow, type Failure, RequestFailed } from '../api/client.ts';
import { askExplorer, type ExploreAnswer } from '../api/explore.ts';
import { programAhead } from '../api/program-clock.ts';
import { explorer } from './explorer.ts';
import { type AnsweredFacets, type Question, questionKey, questionOf } from './question.ts';

/** An answer with its question, whose window further pages have to ask for. */
export interface Answered {
  readonly question: Question;
  readonly answer: ExploreAnswer;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

interface Failed {
  readonly failure: Failure;
  /** The key of the question that failed. */
  readonly key: string;
}

/** `since` is of the page's clock, `performance.now()`. */
export type Progress = { readonly kind: 'idle' } | { readonly kind: 'asking'; readonly since: number } | { readonly kind: 'cancelled' };

const last = signal<Answered | null>(null);
const lastPlain = signal<AnsweredFacets | null>(null);
const failed = signal<Failed | null>(null);
const state = signal<Progress>({ kind: 'idle' });
const turn = signal(0);
/** What "now" means to questions, in milliseconds of the browser's clock: where that is wrong, the answers tell by how much. */
let askedAt = 0;
let underWay = new AbortController();
const askedKey = computed(() => questionKey(explorer.value));

/** The last answer; it stays while the next question is under way, and after one has failed. */
export const answered: ReadonlySignal<Answered | null> = last;
/** The facets of the last answer without a selection, which have the most frequent values; that may be some answers ago. */
export const answeredPlain: ReadonlySignal<AnsweredFacets | null> = lastPlain;
/** Why the question failed that the state asks; null after an answer, and where the one that failed was another. */
export const failure: ReadonlySignal<Failure | null> = computed(() => (failed.value?.key === askedKey.value ? failed.value.failure : null));
export const progress: ReadonlySignal<Progress> = state;
/** Whether the last answer is that of the last question: none is under way, and none has failed or was given up since. */
export const isUpToDate = computed(() => state.value.kind === 'idle' && failure.value === null);

/**
 * Questions that follow each other are about the same window, so that numbers change by what was chosen and not by what came in. After this
 * time they go up to now again: half of what the program tolerates of a window of 72 hours that ended in the past.
 */
const SAME_NOW_MS = (TOLERANCE_SECONDS * 1_000) / 2;

/** Asks the same again, up to now. */
export function askAgain(): void {
  askedAt = 0;
  turn.value += 1;
}

/** Gives the question under way up. The program stops its query then. */
export function cancel(): void {
  underWay.abort();
  if (state.peek().kind === 'asking') state.value = { kind: 'cancelled' };
}

/** The events of an answer, also where its total counts groups. */
export function eventTotal({ histogram, total }: ExploreAnswer): number {
  if (histogram === null) return total;
  return histogram.series.reduce((sum, series) => sum + series.total, histogram.other?.total ?? 0);
}

async function askNow(): Promise<void> {
  underWay.abort();
  const mine = new AbortController();
  underWay = mine;
  const since = performance.now();
  const key = askedKey.peek();
  state.value = { kind: 'asking', since };
  try {
    const found = await askUpToNow(questionOfState, async (question) => ({
      question,
      answer: await askExplorer(question.zones, question.body, mine.signal),
    }));
    if (mine.signal.aborted) return;
    last.value = { ...found, ms: performance.now() - since };
    if (found.question.comparison === null) lastPlain.value = { question: found.question, answer: { facets: found.answer.facets } };
    failed.value = null;
  } catch (error) {
    if (mine.signal.aborted) return;
    failed.value = { failure: failureOf(error), key };
  }
  state.value = { kind: 'idle' };
}

function sameNow(): number {
  if (Math.abs(Date.now() - askedAt) > SAME_NOW_MS) askedAt = Date.now();
  return askedAt + programAhead();
}

/** What the state asks, up to the time that questions have in common: counts of the same window are those of the page. */
export function questionOfState(): Question {
  return questionOf(explorer.peek(), sameNow());
}

/** An error of the page itself is shown like one of the program, and the browser's console has it. */
function failureOf(error: unknown): Failure {
  if (error instanceof RequestFailed) return error.failure;
  reportError(error);
  return { status: 0, key: 'page.failed', message: `The page failed: ${error}`, faults: [] };
}

/** What the program says about a part of the last question, such as `filters[0]` or what is inside of it; null where nothing. */
export function faultAt(path: string): string | null {
  const about = failure.value?.faults.filter(({ field }) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`));
  return about === undefined || about.length === 0 ? null : about.map(({ field, message }) => `${field} ${message}`).join('; ');
}

/** Asks at once, and again whenever the question changes, the key does, or {@link askAgain} is called. */
export function startAsking(): void {
  effect(() => {
    void [askedKey.value, turn.value, accessKey.value];
    untracked(() => void askNow());
  });
}
