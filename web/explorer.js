// Asks the search of this program, and nothing else; every value from an event is shown as text.
import { startLive } from './live.js';

const HOUR_MS = 3_600_000;
const BUCKETS = 48;
const REFRESH_MS = 5_000;

/**
 * Asks one question at a time: the next follows `pauseMs` after the last one has settled, however long that took, unless `isIdle()`. `ask(signal)` is
 * told by its signal when a newer question overtakes it or nobody wants to know any more; then neither `show(answer)` nor `fail(error)` is called.
 * `setWaiting` is told whether a question is under way.
 */
export function keepAsking({ ask, show, fail, setWaiting, isIdle, pauseMs }) {
  let underWay = new AbortController();
  let timer;

  function stop() {
    clearTimeout(timer);
    underWay.abort();
    setWaiting(false);
  }

  async function askNow() {
    stop();
    const mine = new AbortController();
    underWay = mine;
    setWaiting(true);
    try {
      const answer = await ask(mine.signal);
      if (!mine.signal.aborted) show(answer);
    } catch (error) {
      if (!mine.signal.aborted) fail(error);
    }
    if (mine.signal.aborted) return;
    setWaiting(false);
    timer = setTimeout(askAgain, pauseMs);
  }

  function askAgain() {
    if (isIdle()) timer = setTimeout(askAgain, pauseMs);
    else void askNow();
  }

  return { askNow, stop };
}

/** Puts a value into a field of the form. False, and nothing changed, where the field does not take it. */
export function setField(field, value) {
  const before = field.value;
  field.value = value;
  // A list that does not offer it has nothing selected then, which is valid; a number field is empty, which is not.
  if (field.selectedIndex !== -1 && field.validity.valid) return true;
  field.value = before;
  return false;
}

/**
 * A link such as `/?zone=7&hours=72&groupBy=asn` asks that at once; the access key is no part of a link. Returns what to say of parameters that
 * were ignored; null: nothing. `fieldNamed` returns null for a name that no field has.
 */
export function fillFromLink(parameters, fieldNamed) {
  const ignored = [];
  for (const [name, value] of parameters) {
    const field = fieldNamed(name);
    if (field !== null && (name === 'accessKey' || !setField(field, value))) ignored.push(name === 'accessKey' ? name : `${name}=${value}`);
  }
  return ignored.length === 0 ? null : `Not taken from the link: ${ignored.join(', ')}`;
}

function wanted(form) {
  const data = new FormData(form);
  const to = Date.now();
  const query = String(data.get('query'));
  return {
    query,
    zone: Number(data.get('zone')),
    groupBy: String(data.get('groupBy')),
    accessKey: String(data.get('accessKey')),
    body: { from: to - Number(data.get('hours')) * HOUR_MS, to, ...(query === '' ? {} : { query }) },
  };
}

async function search({ zone, accessKey }, body, signal) {
  const response = await fetch(`/shield/event-logs/${zone}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(accessKey === '' ? {} : { AccessKey: accessKey }) },
    body: JSON.stringify(body),
    signal,
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.detail ?? `The program answered ${response.status}`);
  return answer;
}

function cell(content) {
  const td = document.createElement('td');
  td.append(content);
  if (typeof content === 'string') td.title = content;
  return td;
}

function line(...contents) {
  const tr = document.createElement('tr');
  tr.append(...contents.map(cell));
  return tr;
}

/** One bar a bucket, the highest as high as the picture. */
function sparkline(counts) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${counts.length} 1`);
  svg.setAttribute('preserveAspectRatio', 'none');
  const most = Math.max(1, ...counts);
  for (const [x, count] of counts.entries()) {
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    const height = count / most;
    for (const [name, value] of Object.entries({ x, y: 1 - height, width: 0.8, height })) bar.setAttribute(name, String(value));
    svg.append(bar);
  }
  return svg;
}

function groupLine({ key, count, context, sparkline: counts }, groupBy) {
  return line(key[groupBy] || '(none)', count.toLocaleString(), context.blocked.toLocaleString(), context.country, sparkline(counts));
}

function rowLine({ timestamp, fields }) {
  const time = new Date(timestamp).toISOString().slice(0, 19).replace('T', ' ');
  return line(time, fields.action ?? '', fields.feature ?? '', fields.ip ?? '', fields.url ?? '');
}

function startPage() {
  const form = document.querySelector('#search');
  const [status, waiting, note] = ['#status', '#waiting', '#note'].map((id) => document.querySelector(id));

  function tell(text, failed) {
    status.textContent = text;
    status.toggleAttribute('data-failed', failed);
  }

  const asking = keepAsking({
    ask: async (signal) => {
      const question = wanted(form);
      const [groups, rows] = await Promise.all([
        search(question, { ...question.body, groupBy: [question.groupBy], buckets: BUCKETS, pageSize: 15 }, signal),
        search(question, { ...question.body, pageSize: 15 }, signal),
      ]);
      return { groups, rows, groupBy: question.groupBy };
    },
    show: ({ groups, rows, groupBy }) => {
      document.querySelector('#groups').replaceChildren(...groups.groups.map((group) => groupLine(group, groupBy)));
      document.querySelector('#rows').replaceChildren(...rows.rows.map(rowLine));
      tell(`${rows.total.toLocaleString()} events in ${groups.total.toLocaleString()} groups by ${groupBy}`, false);
    },
    fail: (error) => tell(error.message, true),
    setWaiting: (isWaiting) => {
      waiting.hidden = !isWaiting;
    },
    isIdle: () => document.hidden || !form.checkValidity(),
    pauseMs: REFRESH_MS,
  });

  /** An empty zone is none: it would be asked for as zone 0. */
  function askIfValid() {
    if (form.reportValidity()) return void asking.askNow();
    asking.stop();
    tell('Waiting for a valid search', true);
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    askIfValid();
  });
  form.addEventListener('change', askIfValid);
  const ignored = fillFromLink(new URLSearchParams(location.search), (name) => form.elements.namedItem(name));
  note.hidden = ignored === null;
  note.textContent = ignored;
  startLive({ form, question: () => wanted(form), rowLine });
  askIfValid();
}

// Tests import the parts above without a page.
if (globalThis.document !== undefined) startPage();
