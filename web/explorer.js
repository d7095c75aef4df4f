// Asks the search of this program, and nothing else; every value from an event is shown as text.
const HOUR_MS = 3_600_000;
const BUCKETS = 48;
const REFRESH_MS = 5_000;

const form = document.querySelector('#search');
const status = document.querySelector('#status');

/** A link such as `/?zone=7&hours=72&groupBy=asn` asks that at once; the access key is no part of a link. */
function fillFromAddress() {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = form.elements.namedItem(name);
    if (field !== null && name !== 'accessKey') field.value = value;
  }
}

function wanted() {
  const data = new FormData(form);
  const to = Date.now();
  const query = String(data.get('query'));
  return {
    zone: Number(data.get('zone')),
    groupBy: String(data.get('groupBy')),
    accessKey: String(data.get('accessKey')),
    body: { from: to - Number(data.get('hours')) * HOUR_MS, to, ...(query === '' ? {} : { query }) },
  };
}

async function search({ zone, accessKey }, body) {
  const response = await fetch(`/shield/event-logs/${zone}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(accessKey === '' ? {} : { AccessKey: accessKey }) },
    body: JSON.stringify(body),
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

let latest = 0;

async function refresh() {
  latest += 1;
  const mine = latest;
  const ask = wanted();
  try {
    const [groups, rows] = await Promise.all([
      search(ask, { ...ask.body, groupBy: [ask.groupBy], buckets: BUCKETS, pageSize: 15 }),
      search(ask, { ...ask.body, pageSize: 15 }),
    ]);
    // An answer that a later question has overtaken is of no use.
    if (mine !== latest) return;
    document.querySelector('#groups').replaceChildren(...groups.groups.map((group) => groupLine(group, ask.groupBy)));
    document.querySelector('#rows').replaceChildren(...rows.rows.map(rowLine));
    status.textContent = `${rows.total.toLocaleString()} events in ${groups.total.toLocaleString()} groups by ${ask.groupBy}`;
    delete status.dataset.failed;
  } catch (error) {
    if (mine !== latest) return;
    status.textContent = error.message;
    status.dataset.failed = '';
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void refresh();
});
form.addEventListener('change', () => void refresh());
fillFromAddress();
setInterval(() => document.hidden || void refresh(), REFRESH_MS);
void refresh();
