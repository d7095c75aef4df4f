import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import type { Facet } from '../../query/plan/search-result.ts';
import { TOLERANCE_SECONDS } from '../../query/search-limits.ts';
import { accessKey } from '../api/access-key.ts';
import { askUpToNow, type Failure, RequestFailed } from '../api/client.ts';
import { askExplorer, type ExploreAnswer } from '../api/explore.ts';
import { programAhead } from '../api/program-clock.ts';
import { explorer } from './explorer.ts';
import { type AnsweredFacets, type Question, questionKey, questionOf, withLateFacet } from './question.ts';

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
/** What has come of the facet that is asked for after the last answer. */
const late = signal<{ readonly of: Answered; readonly outcome: Facet | Failure } | null>(null);
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
/** The facets of the last answer, the late one in its place as soon as it is there. */
export const answeredFacets: ReadonlySignal<AnsweredFacets | null> = computed(() => {
  const now = last.value;
  if (now === null || now.answer.facets === null) return null;
  const outcome = late.value?.of === now ? late.value.outcome : null;
  const facet = outcome === null || 'status' in outcome ? null : outcome;
  return { question: now.question, answer: { facets: withLateFacet(now.answer.facets, facet) } };
});
/** Why the late facet of the last answer has not come; null where it has, or is awaited. */
export const lateFailure: ReadonlySignal<Failure | null> = computed(() => {
  const outcome = late.value?.of === last.value ? late.value?.outcome : undefined;
  return outcome !== undefined && 'status' in outcome ? outcome : null;
});
/** Whether nothing of the last answer is awaited any more. */
export const isComplete = computed(() => last.value !== null && late.value?.of === last.value);
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
  if (state.peek().kind !== 'asking') return;
  state.value = { kind: 'cancelled' };
  if (!isComplete.peek()) askLateAgain();
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
    const now = { ...found, ms: performance.now() - since };
    last.value = now;
    failed.value = null;
    void askLate(now, mine.signal);
  } catch (error) {
    if (mine.signal.aborted) return;
    failed.value = { failure: failureOf(error), key };
    if (!isComplete.peek()) askLateAgain();
  }
  state.value = { kind: 'idle' };
}

/** Asks for what the last answer lacks, once more. */
export function askLateAgain(): void {
  const now = last.peek();
  if (underWay.signal.aborted) underWay = new AbortController();
  if (now !== null) void askLate(now, underWay.signal);
}

const NO_URLS: Facet = { field: 'url', distinct: 0, values: [] };

/** Asks for what an answer lacks. What is shown of it stays as it is where that fails. */
async function askLate(now: Answered, signal: AbortSignal): Promise<void> {
  const set = (outcome: Facet | Failure | null): void => {
    if (signal.aborted) return;
    late.value = outcome === null ? null : { of: now, outcome };
    if (now.question.body.selection === undefined) lastPlain.value = answeredFacets.peek();
  };
  set(null);
  if (eventTotal(now.answer) === 0) return set(NO_URLS);
  try {
    set((await askExplorer(now.question.zones, now.question.lateBody, signal)).facets?.[0] ?? NO_URLS);
  } catch (error) {
    if (!signal.aborted) set(failureOf(error));
  }
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
