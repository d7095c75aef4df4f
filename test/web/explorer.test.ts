import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

// The page's own script, as the browser gets it; it has no types.
const { fillFromLink, keepAsking } = await import(join(import.meta.dirname, '../../web/explorer.js'));

/** One question that the page has asked, to be answered by the test. */
interface Question {
  readonly signal: AbortSignal;
  readonly answer: (value: string) => void;
  readonly fail: (error: Error) => void;
}

interface Page {
  readonly questions: readonly Question[];
  /** Everything shown so far: answers, and errors as `!message`. */
  readonly shown: readonly string[];
  readonly isWaiting: () => boolean;
  idle: boolean;
  readonly askNow: () => Promise<void>;
  readonly stop: () => void;
}

const PAUSE_MS = 5000;

let page: Page;

function openPage(): Page {
  const questions: Question[] = [];
  const shown: string[] = [];
  let waiting = false;
  const asking = keepAsking({
    ask: (signal: AbortSignal) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      questions.push({ signal, answer: resolve, fail: reject });
      return promise;
    },
    show: (answer: string) => shown.push(answer),
    fail: ({ message }: Error) => shown.push(`!${message}`),
    setWaiting: (isWaiting: boolean) => {
      waiting = isWaiting;
    },
    isIdle: () => page.idle,
    pauseMs: PAUSE_MS,
  });
  page = { questions, shown, isWaiting: () => waiting, idle: false, ...asking };
  return page;
}

/** The clock goes on by some of the pauses between two questions. */
const pauses = (count: number) => vi.advanceTimersByTimeAsync(count * PAUSE_MS);

describe('the page asks', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('nothing more while an answer is under way, shows it however late it comes, and asks again then', async () => {
    openPage();
    void page.askNow();
    await pauses(10);
    expect([page.questions.length, page.isWaiting(), page.questions[0]?.signal.aborted]).toEqual([1, true, false]);
    page.questions[0]?.answer('late');
    await pauses(0.9);
    expect([page.questions.length, page.shown, page.isWaiting()]).toEqual([1, ['late'], false]);
    await pauses(0.2);
    expect([page.questions.length, page.shown, page.isWaiting()]).toEqual([2, ['late'], true]);
  });

  test('again after a failure too, and shows it', async () => {
    openPage();
    void page.askNow();
    page.questions[0]?.fail(new Error('busy'));
    await pauses(1);
    page.questions[1]?.answer('fine');
    await pauses(1);
    expect([page.questions.length, page.shown]).toEqual([3, ['!busy', 'fine']]);
  });

  test('a new question at once, ends the one that it overtakes and shows nothing of that', async () => {
    openPage();
    void page.askNow();
    void page.askNow();
    expect(page.questions.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    page.questions[0]?.fail(new Error('aborted'));
    await pauses(10);
    expect([page.questions.length, page.shown, page.isWaiting()]).toEqual([2, [], true]);
    page.questions[1]?.answer('new');
    await pauses(1);
    expect([page.questions.length, page.shown]).toEqual([3, ['new']]);
  });

  test('nothing while nobody looks, and again when somebody does', async () => {
    openPage();
    page.idle = true;
    void page.askNow();
    page.questions[0]?.answer('first');
    await pauses(10);
    expect([page.questions.length, page.isWaiting()]).toEqual([1, false]);
    page.idle = false;
    await pauses(1);
    expect(page.questions.length).toBe(2);
  });

  test('nothing more when it is stopped', async () => {
    openPage();
    void page.askNow();
    page.stop();
    expect([page.questions[0]?.signal.aborted, page.isWaiting()]).toEqual([true, false]);
    page.questions[0]?.answer('unwanted');
    await pauses(10);
    expect([page.questions.length, page.shown]).toEqual([1, []]);
  });
});

/** A browser's list: with a value that it does not offer nothing is selected, which is valid all the same. */
class ListField {
  readonly validity = { valid: true };
  readonly #offers: readonly string[];
  selectedIndex: number;

  constructor(offers: readonly string[], selected: string) {
    this.#offers = offers;
    this.selectedIndex = offers.indexOf(selected);
  }

  get value(): string {
    return this.#offers[this.selectedIndex] ?? '';
  }

  set value(value: string) {
    this.selectedIndex = this.#offers.indexOf(value);
  }
}

/** A browser's field for an int32 that is required: what is no number empties it. */
class NumberField {
  #value = '7';

  get value(): string {
    return this.#value;
  }

  set value(value: string) {
    this.#value = /^-?\d+$/.test(value) ? value : '';
  }

  get validity(): { readonly valid: boolean } {
    return { valid: this.#value !== '' && Math.abs(Number(this.#value)) < 2 ** 31 };
  }
}

describe('a link to the page', () => {
  test.each([
    ['?zone=-5&hours=6&groupBy=asn&query=a+b', { zone: '-5', hours: '6', groupBy: 'asn', query: 'a b' }, null],
    ['?hours=5&groupBy=asn', { groupBy: 'asn' }, 'Not taken from the link: hours=5'],
    ['?groupBy=nonsense&hours=', {}, 'Not taken from the link: groupBy=nonsense, hours='],
    ['?zone=seven', {}, 'Not taken from the link: zone=seven'],
    ['?zone=', {}, 'Not taken from the link: zone='],
    ['?zone=2147483648', {}, 'Not taken from the link: zone=2147483648'],
    ['?accessKey=secret&hours=1', { hours: '1' }, 'Not taken from the link: accessKey'],
    ['?elsewhere=1', {}, null],
  ])('%s fills in what the fields take and says what they do not', (link, taken, note) => {
    const fields: Readonly<Record<string, { readonly value: string }>> = {
      zone: new NumberField(),
      hours: new ListField(['1', '6', '24', '72'], '72'),
      groupBy: new ListField(['ip', 'asn'], 'ip'),
      query: { value: '', validity: { valid: true } } as { value: string },
      accessKey: { value: '', validity: { valid: true } } as { value: string },
    };
    expect(fillFromLink(new URLSearchParams(link), (name: string) => fields[name] ?? null)).toBe(note);
    const values = Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]));
    expect(values).toEqual({ zone: '7', hours: '72', groupBy: 'ip', query: '', accessKey: '', ...taken });
  });
});
