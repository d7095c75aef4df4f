// The explorer page. It only calls the search and the tail of this program, and shows every value of an event as text.
import { parseExactly } from './exact-json.js';
import { startLive } from './live.js';
import { drawLines, tableLine } from './table-lines.js';
import { startView } from './view.js';

const HOUR_MS = 3_600_000;
const BUCKETS = 48;
const REFRESH_MS = 5_000;
const ROWS = 15;
const ROWS_OF_GROUP = 50;

/**
 * Asks one question at a time and asks again `pauseMs` after each has settled, unless `isIdle()`. A newer question or `stop` aborts the
 * signal of `ask(signal)`; then neither `show(answer)` nor `fail(error)` is called. `setWaiting` gets whether a question is running.
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

/** Puts a value into a field of the form. Returns false and changes nothing if the field does not accept it. */
export function setField(field, value) {
  const before = field.value;
  field.value = value;
  // A list without the value has no selection then, which is valid. A number field is empty, which is not.
  if (field.selectedIndex !== -1 && field.validity.valid) return true;
  field.value = before;
  return false;
}

/**
 * Fills the form from a link such as `/?zone=7&hours=72&groupBy=asn`. A link cannot set the access key. Returns a message about ignored
 * parameters, or null. `fieldNamed` returns null if no field has the name.
 */
export function fillFromLink(parameters, fieldNamed) {
  const ignored = [];
  for (const [name, value] of parameters) {
    const field = fieldNamed(name);
    if (field === null) continue;
    if (name === 'accessKey') ignored.push(name);
    else if (!setField(field, value)) ignored.push(`${name}=${value}`);
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
  if (response.ok) return parseExactly(await response.text());
  const problem = await response.json().catch(() => ({}));
  throw new Error(problem.detail ?? `The program answered ${response.status}`);
}

/** A bar for each bucket. The highest is as high as the picture. */
function sparkline(counts) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${counts.length} 1`);
  svg.setAttribute('preserveAspectRatio', 'none');
  const max = Math.max(1, ...counts);
  for (const [x, count] of counts.entries()) {
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    const height = count / max;
    for (const [name, value] of Object.entries({ x, y: 1 - height, width: 0.8, height })) bar.setAttribute(name, String(value));
    svg.append(bar);
  }
  return svg;
}

/** The line of a group. A group without a value cannot be opened, because no filter finds the events that lack a field. */
function groupLine({ key, count, context, sparkline: counts }, groupBy, open) {
  const value = key[groupBy];
  return tableLine({
    key: value,
    open: value === '' ? null : () => open(value),
    cells: [value || '(none)', count.toLocaleString(), context.blocked.toLocaleString(), context.country, sparkline(counts)],
  });
}

function rowLine(row, open) {
  const { timestamp, logId, fields } = row;
  const key = `${timestamp} ${logId}`;
  const time = new Date(timestamp).toISOString().slice(0, 19).replace('T', ' ');
  return tableLine({
    key,
    open: () => open(row, key),
    cells: [time, fields.action ?? '', fields.feature ?? '', fields.ip ?? '', fields.url ?? ''],
  });
}

function startPage() {
  const form = document.querySelector('#search');
  const [status, waiting, note, groupRows, eventRows, eventsOf, allEvents] = [
    '#status',
    '#waiting',
    '#note',
    '#groups',
    '#rows',
    '#eventsOf',
    '#allEvents',
  ].map((id) => document.querySelector(id));
  const view = startView({
    dialog: document.querySelector('#event'),
    text: document.querySelector('#eventText'),
    close: document.querySelector('#eventClose'),
    onGroup: () => askIfValid(),
  });

  function tell(text, failed) {
    status.textContent = text;
    status.toggleAttribute('data-failed', failed);
  }

  /** The open group, if it belongs to the zone and the field of the form. */
  function openGroup({ zone, groupBy }) {
    const { group } = view;
    return group !== null && group.zone === zone && group.field === groupBy ? group : null;
  }

  const linesIn = (table) => (row) => rowLine(row, (opened, key) => view.openEvent(opened, table, key));

  function showGroups(question, groups, opened) {
    const lines = groups.map((group) => groupLine(group, question.groupBy, (value) => openGroupOf(question, value)));
    for (const line of lines) if (opened !== null && line.dataset.key === opened.value) line.setAttribute('aria-current', 'true');
    drawLines(groupRows, lines);
  }

  function showRows(rows, opened) {
    drawLines(eventRows, rows.map(linesIn(eventRows)));
    eventsOf.textContent = opened === null ? '' : `with ${opened.field} ${opened.value}`;
    allEvents.hidden = opened === null;
  }

  function openGroupOf({ zone, groupBy }, value) {
    view.openGroup({ zone, field: groupBy, value });
    eventRows.closest('section').scrollIntoView();
  }

  const asking = keepAsking({
    ask: async (signal) => {
      const question = wanted(form);
      const opened = openGroup(question);
      const filters = opened === null ? [] : [{ field: opened.field, op: 'eq', value: [opened.value] }];
      const [groups, rows] = await Promise.all([
        search(question, { ...question.body, groupBy: [question.groupBy], buckets: BUCKETS, pageSize: 15 }, signal),
        search(question, { ...question.body, filters, pageSize: opened === null ? ROWS : ROWS_OF_GROUP }, signal),
      ]);
      return { question, opened, groups, rows };
    },
    show: ({ question, opened, groups, rows }) => {
      showGroups(question, groups.groups, opened);
      showRows(rows.rows, opened);
      const [events, inGroups] = [rows.total, groups.total].map((count) => count.toLocaleString());
      const { groupBy } = question;
      tell(
        opened === null
          ? `${events} events in ${inGroups} groups by ${groupBy}`
          : `${events} events of one of ${inGroups} groups by ${groupBy}`,
        false,
      );
    },
    fail: (error) => tell(error.message, true),
    setWaiting: (isWaiting) => {
      waiting.hidden = !isWaiting;
    },
    isIdle: () => document.hidden || !form.checkValidity(),
    pauseMs: REFRESH_MS,
  });

  /** Asks if the form is valid. An empty zone is not, because it would be sent as zone 0. */
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
  allEvents.addEventListener('click', () => view.openGroup(null));
  startLive({ form, question: () => wanted(form), linesIn });
  askIfValid();
}

// Tests import this module without a page.
if (globalThis.document !== undefined) startPage();
