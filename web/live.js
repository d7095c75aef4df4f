// The live tail on the page.
import { watchTail } from './live-stream.js';
import { drawLines } from './table-lines.js';

const MAX_ROWS = 300;
/** The shortest time between two drawings of the table. */
const DRAW_MS = 200;

/** The last `max` rows, the newest first, and counts of all. While it is paused, new rows are gathered but not shown. */
export function liveList(max) {
  let shown = [];
  let gathered = [];
  let paused = false;
  const counts = { seen: 0, dropped: 0 };

  return {
    counts,
    get rows() {
      return shown;
    },
    get isPaused() {
      return paused;
    },
    /** The number of gathered rows that would be shown. */
    get waiting() {
      return gathered.length;
    },
    add(row) {
      counts.seen += 1;
      gathered.unshift(row);
      gathered.length = Math.min(gathered.length, max);
      if (!paused) this.show();
    },
    drop(count) {
      counts.dropped += count;
    },
    show() {
      shown = [...gathered, ...shown].slice(0, max);
      gathered = [];
    },
    pause(isPaused) {
      paused = isPaused;
      if (!paused) this.show();
    },
  };
}

/** The text beside the switch. */
export function liveWords({ seen, dropped }, { isPaused, waiting }) {
  const words = [`${seen.toLocaleString()} events`];
  if (dropped > 0) words.push(`${dropped.toLocaleString()} dropped, because this page was too slow or its filter too costly`);
  if (isPaused) words.push(`paused, ${waiting.toLocaleString()} new`);
  return words.join('; ');
}

/**
 * Starts the switch and the table of the page. `question()` returns the zone, the access key and the text of the form. `linesIn(table)`
 * returns a function that makes a line of the table from a row.
 */
export function startLive({ form, question, linesIn }) {
  const [section, power, pause, status, rows] = ['#live', '#livePower', '#livePause', '#liveStatus', '#liveRows'].map((id) =>
    document.querySelector(id),
  );
  let isOn = false;
  let watching = new AbortController();
  let list = liveList(MAX_ROWS);
  let state = '';
  let timer = null;

  function draw() {
    clearTimeout(timer);
    timer = null;
    if (!list.isPaused) drawLines(rows, list.rows.map(linesIn(rows)));
    status.textContent = [state, liveWords(list.counts, list)].filter((words) => words !== '').join(': ');
  }

  function drawSoon() {
    timer ??= setTimeout(draw, DRAW_MS);
  }

  function stop(why) {
    watching.abort();
    state = why;
    draw();
  }

  function start() {
    if (!form.checkValidity()) return stop('waiting for a valid search');
    stop('connecting');
    const mine = new AbortController();
    watching = mine;
    list = liveList(MAX_ROWS);
    pause.setAttribute('aria-pressed', 'false');
    const { zone, accessKey, query } = question();
    const search = JSON.stringify(query === '' ? {} : { query });
    void watchTail({
      signal: mine.signal,
      fetchStream: (headers) =>
        fetch(`/shield/event-logs/${zone}/tail?${new URLSearchParams({ search })}`, {
          headers: { ...headers, ...(accessKey === '' ? {} : { AccessKey: accessKey }) },
          signal: mine.signal,
        }),
      onRow(row) {
        list.add(row);
        drawSoon();
      },
      onDropped(count) {
        list.drop(count);
        drawSoon();
      },
      onState(text, failed) {
        state = text;
        status.toggleAttribute('data-failed', failed);
        drawSoon();
      },
    });
    draw();
  }

  power.addEventListener('click', () => {
    isOn = !isOn;
    power.setAttribute('aria-pressed', String(isOn));
    section.toggleAttribute('data-on', isOn);
    if (isOn) start();
    else stop('stopped');
  });
  pause.addEventListener('click', () => {
    list.pause(!list.isPaused);
    pause.setAttribute('aria-pressed', String(list.isPaused));
    draw();
  });
  for (const event of ['submit', 'change']) {
    form.addEventListener(event, () => {
      if (isOn) start();
    });
  }
}
