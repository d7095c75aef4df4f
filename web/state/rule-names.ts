import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { MINUTE_MS } from '../../query/durations.ts';
import { accessKey } from '../api/access-key.ts';
import { askUpToNow, RequestFailed } from '../api/client.ts';
import { rulesIn } from '../api/explore.ts';
import { answered, answeredFacets, isComplete } from './answers.ts';
import { windowOfRange } from './time-range.ts';

/** Rules are asked for at most so often: that takes about half of the time of the facets. */
const PAUSE_MS = MINUTE_MS;

interface Known {
  /** Which zones, opened by which key, the names are of. */
  readonly about: string;
  /** By id; empty where the rule has none, or where nothing is known of it. */
  readonly names: ReadonlyMap<string, string>;
}

const NONE: ReadonlyMap<string, string> = new Map();

const about = computed(() => JSON.stringify([answered.value?.question.zones, accessKey.value]));
const known = signal<Known | null>(null);
/** Ids without a name that were drawn since rules were asked for. */
let unknown = new Set<string>();
/** When rules were asked for last, by the clock of `performance.now()`, and about what. */
let asked = { about: '', at: 0 };
let timer: ReturnType<typeof setTimeout> | undefined;
/** Whether a name is missing, and rules may be asked for again. */
const isDue = signal(false);

/** The names of rules in the zones of the last answer, by id; empty texts for rules without one. Others are asked for by drawing them. */
export const ruleNames: ReadonlySignal<ReadonlyMap<string, string>> = computed(() =>
  known.value?.about === about.value ? known.value.names : NONE,
);

/** The name of a rule, empty where it is not known. What draws it is drawn anew when it is: an id that is unknown is asked for soon. */
export function ruleNameOf(id: string): string {
  const name = ruleNames.value.get(id);
  if (name === undefined && id !== '') {
    unknown.add(id);
    askSoon();
  }
  return name ?? '';
}

function askSoon(): void {
  const wait = asked.about === about.peek() ? Math.max(0, asked.at + PAUSE_MS - performance.now()) : 0;
  // The zones may be others than those that a timer waits for.
  clearTimeout(timer);
  timer = setTimeout(() => {
    isDue.value = true;
  }, wait);
}

/** Asks for names when they are due, and all that the page shows is there: also of the rules of an answer that nothing draws. */
export function startNamingRules(): void {
  effect(() => {
    const rules = answeredFacets.value?.answer.facets?.find(({ field }) => field === 'ruleId')?.values ?? [];
    untracked(() => rules.map(({ value }) => ruleNameOf(value)));
  });
  effect(() => {
    if (!isDue.value || !isComplete.value) return;
    isDue.value = false;
    untracked(() => void askNow());
  });
}

async function askNow(): Promise<void> {
  const question = answered.peek()?.question;
  const ids = [...unknown].filter((id) => !ruleNames.peek().has(id));
  unknown = new Set();
  if (question === undefined || ids.length === 0) return;
  const now = about.peek();
  asked = { about: now, at: performance.now() };
  try {
    const rules = await askUpToNow(
      (time) => windowOfRange(question.range, time),
      (window) => rulesIn(question.zones, window, new AbortController().signal),
    );
    if (about.peek() !== now) return;
    // What was asked for in vain is not asked for again.
    const nameless = ids.map((id) => [id, ''] as const);
    const found = rules.map(({ ruleId, ruleName }) => [ruleId, ruleName] as const);
    known.value = { about: now, names: new Map([...nameless, ...ruleNames.peek(), ...found]) };
  } catch (error) {
    // Rules stand there by their ids alone then, and the next drawing asks again.
    if (!(error instanceof RequestFailed)) throw error;
  }
}
