import { expect, test } from 'vitest';
import { raceHtml } from '../../../../bench/report/page/race-html.ts';
import type { SizeFigures } from '../../../../bench/report/race-result.ts';
import { AWKWARD_WRITTEN, alone, coldOnly, different, full, hotOnly, nothing, withTimes } from '../race-examples.ts';

const SECTIONS = ['circumstances', 'verdict', 'searches', 'intake', 'growth', 'explore', 'mixed', 'concurrency', 'method', 'again'];

const sectionsOf = (page: string) => [...page.matchAll(/<section id="([^"]+)"/g)].map(([, id]) => id);

/** Returns the text of one section as a reader sees it. */
function textOf(page: string, id: string): string {
  const [, section = ''] = page.match(new RegExp(`<section id="${id}".*?>(.*?)</section>`, 's')) ?? [];
  return section
    .replaceAll(/<(title|desc)\b.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/[\s\u2007\u2008]+/g, ' ')
    .trim();
}

test('a full result has all sections, the circumstances first', () => {
  expect(sectionsOf(raceHtml(full))).toEqual(SECTIONS);
});

test.each([
  ['nothing measured', nothing, ['searches', 'intake', 'growth', 'explore', 'mixed', 'concurrency']],
  ['one number of events', { ...full, sizes: full.sizes.slice(1) }, ['growth']],
  ['no hot times', coldOnly, ['growth']],
  ['no searches', { ...full, sizes: full.sizes.map((size) => ({ ...size, workloads: [] })) }, ['searches', 'growth']],
  ['no intake', { ...full, sizes: full.sizes.map((size) => ({ ...size, intake: {} })) }, ['intake']],
  ['no questions', { ...full, questions: [] }, ['explore']],
  ['no searches while events come in', { ...full, mixed: {} }, ['mixed']],
  ['no clients', { ...full, concurrency: {} }, ['concurrency']],
])('%s: its sections are left out', (_, result, missing) => {
  expect(sectionsOf(raceHtml(result))).toEqual(SECTIONS.filter((id) => !missing.includes(id)));
});

test.each([
  ['nothing measured', nothing, ['Answers']],
  ['hot only', { ...nothing, sizes: hotOnly.sizes.slice(1) }, ['Answers', 'Hot', 'Times as fast', 'Intake']],
  [
    'everything',
    full,
    [
      ...['Answers', 'Hot', 'Cold', 'Remembered', 'Times as fast', 'Intake', 'Growth'],
      ...['Questions of the explorer', 'While events come in', 'Several clients'],
    ],
  ],
])('%s: the method speaks of that only', (_, result, names) => {
  const [, method = ''] = raceHtml(result).match(/<section id="method">(.*?)<\/section>/s) ?? [];
  expect([...method.matchAll(/<dt>([^<]+)<\/dt>/g)].map(([, name]) => name)).toEqual(names);
});

test('texts of the result are escaped wherever they are', () => {
  const page = raceHtml(full);
  expect(page).not.toContain("alert('1')");
  // A label of the bars hot and cold, the verdict twice, tables of two sizes, the growth's plot and table.
  expect(page.split(AWKWARD_WRITTEN).length - 1).toBeGreaterThanOrEqual(8);
  expect(page).toContain('Quick &lt;CPU&gt;');
  expect(page).toContain('node bench/main.ts --only &quot;&lt;05&gt;&quot;');
});

test('the circumstances say machine, versions, commit, command and date', () => {
  expect(textOf(raceHtml(full), 'circumstances')).toBe(
    'Machine 2 × Quick &lt;CPU&gt;, 8 GiB, linux Versions node 24.21.0 shieldlog duckdb v1.5.6 clickhouse 26.5, chdb 3.4 ' +
      'Commit abc1234 with changes Date 2026-07-01 10:20 UTC Command node bench/main.ts --only &quot;&lt;05&gt;&quot;',
  );
});

// On 4,000,000 events, hot: (10 + 280) / (10 + 40) = 5.8 and (10 + 40) / (10 + 180) = 0.263, whose geometric mean is 1.24; cold: 850 / 90
// and 130 / 370.
const VERDICT =
  'On 4,000,000 events, shieldlog is 1.24 times as fast as ClickHouse hot and 1.82 times as fast cold (geometric mean of 2 searches). ' +
  `Beside ClickHouse it does worst at “${AWKWARD_WRITTEN}” hot (0.26 times as fast) and “${AWKWARD_WRITTEN}” cold (0.35 times as fast); `;

test.each([
  ['equal answers', full, `${VERDICT}both gave equal answers to every search.`],
  ['different answers', different, `${VERDICT}but they gave different answers, so that none of these figures counts.`],
  ['hot only', hotOnly, 'is 1.24 times as fast as ClickHouse hot (geometric mean of 2 searches).'],
  ['cold only', coldOnly, 'is 1.82 times as fast as ClickHouse cold (geometric mean of 2 searches).'],
  ['one engine', alone, 'No searches of two engines were timed against each other.'],
  ['nothing', nothing, 'No searches of two engines were timed against each other.'],
])('the verdict on %s', (_, result, sentence) => {
  expect(textOf(raceHtml(result), 'verdict')).toContain(sentence);
});

test('different answers are said before anything else', () => {
  const page = raceHtml(different);
  expect(sectionsOf(page)).toEqual(['differences', ...SECTIONS]);
  expect(textOf(page, 'differences')).toContain('14: clickhouse and shieldlog differ at $.total: &quot;&lt;b&gt;&quot;, not 1');
});

test('the table of searches has the medians of all engines, hot and cold, and how they compare', () => {
  const text = textOf(raceHtml(full), 'searches');
  expect(text).toContain('first page 123,456 40 280 5.80× 80 840 9.44× 16 80 3.46×');
  expect(text).toContain(`${AWKWARD_WRITTEN} 7 180 40 0.26× 360 120 0.35×`);
  expect(text).toContain('Geometric mean 1.24× 1.82×');
  expect(text).toContain('shieldlog 300 MiB, ClickHouse 900 MiB');
  expect(text).toContain('The same on 1,000,000 events');
});

test('the table of questions has both looks, how they compare, and the share of the second look', () => {
  const text = textOf(raceHtml(full), 'explore');
  expect(text).toContain('large zone 500,000 190 370 1.90× 19 190 6.90× 10% 51%');
  expect(text).toContain(`${AWKWARD_WRITTEN}, six hours selected 2,000 40 15 0.50× 30 10 0.50× 75% 67%`);
  expect(textOf(raceHtml(alone), 'explore')).toContain('large zone 500,000 190 19 10%');
});

test('a longer time has a longer bar', () => {
  const [, plot = ''] = raceHtml(full).match(/<title id="bars-hot-title">(.*?)<\/svg>/s) ?? [];
  const bars = [...plot.matchAll(/<rect class="bar ([a-z]+)" x="0" y="[^"]+" width="([\d.]+)%"[^>]*><title>[A-Za-z]+: (\d+)/g)].map(
    ([, engine, width, time]) => ({ engine, width: Number(width), time: Number(time) }),
  );
  expect(bars.map(({ engine, time }) => `${engine} ${time}`)).toEqual(['shieldlog 40', 'clickhouse 280', 'shieldlog 180', 'clickhouse 40']);
  const widths = bars.toSorted((a, b) => a.time - b.time).map(({ width }) => width);
  expect(widths[0]).toBe(widths[1]);
  expect(widths[1]).toBeLessThan(widths[2] as number);
  expect(widths[2]).toBeLessThan(widths[3] as number);
  expect(widths[3]).toBeLessThan(100);
});

test('the intake says speed until searchable and until merged, cores, memory and size on disk', () => {
  const text = textOf(raceHtml(full), 'intake');
  expect(text).toContain('shieldlog, 4,000,000 events 1 100,000 80,000 1.25 512 142');
  expect(text).toContain('ClickHouse, 4,000,000 events 1 125,000 125,000 1.56 2,048 171');
  expect(text).toContain('A file of 4,000,000 events of 1,140 bytes each');
});

test('events that came in several files are said to have', () => {
  const sizes = full.sizes.map((size) => ({ ...size, files: { ...size.files, count: 5 } }));
  expect(textOf(raceHtml({ ...full, sizes }), 'intake')).toContain('4,000,000 events of 1,140 bytes each on average, in 5 files');
});

test('the growth says by which power of the number of events times grow', () => {
  const text = textOf(raceHtml(full), 'growth');
  expect(text).toContain('first page 10 40 1.00 70 280 1.00');
  expect(text).toContain(`${AWKWARD_WRITTEN} 90 180 0.50 40 40 0.00`);
});

test('searches while events come in have their percentiles beside those of searches alone', () => {
  const text = textOf(raceHtml(full), 'mixed');
  expect(text).toContain('shieldlog: searches only, 4M events stored 6 11 16 16');
  expect(text).toContain('shieldlog: 50K events/s offered, 4M stored before 48,000 1,024 4 21 24 24 1.50× (1.62, 1.50)');
  expect(text).toContain('shieldlog: intake at full speed, none stored before 87,654 1,024 3 42 43 43');
});

test('answers over HTTP are given by the number of clients, with errors', () => {
  const text = textOf(raceHtml(full), 'concurrency');
  expect(text).toContain('shieldlog, 1 client 41.5 12 90 0');
  expect(text).toContain('shieldlog, 16 clients 88.3 84 627 3');
  expect(text).toContain('ClickHouse, 16 clients 51.0 216 836 0');
});

test('how to run it again ends with the command', () => {
  expect(textOf(raceHtml(full), 'again')).toContain('npm ci --prefix bench node bench/main.ts --only &quot;&lt;05&gt;&quot;');
});

test('times of zero, and runs that took no time, are drawn', () => {
  const zero = withTimes(() => ({ hotMs: [0], coldMs: [0] }));
  const page = raceHtml({
    ...zero,
    mixed: {
      shieldlog: [
        {
          storedEvents: 1,
          wantedEventsPerSecond: null,
          turns: [{ aloneMs: [0], eventsPerSecond: 1, besideMs: [0] }],
          peakMemoryBytes: 0,
        },
      ],
    },
    concurrency: { shieldlog: [{ clients: 1, requestsPerSecond: 0, p50Ms: 0, p99Ms: 0, errors: 9 }] },
  });
  expect(page).not.toMatch(/NaN|Infinity/);
  expect(textOf(page, 'searches')).toContain('1.00×');
});

test('a search in which we are slower is set off, in the bars and in the table', () => {
  const page = raceHtml(full);
  const marked = [...page.matchAll(/<(?:text class="note loss"|strong class="loss")[^>]*>([^<]+)</g)].map(([, text]) => text);
  expect(marked.toSorted()).toEqual(['0.26×', '0.26×', '0.35×', '0.35×', '0.50×', '0.50×', '0.50×', '0.50×', '0.50×', '3']);
});

test('lines that end at the same point have labels below one another', () => {
  const { workloads, ...size } = full.sizes[0] as SizeFigures;
  const same = { hotMs: [50], coldMs: [], rememberedMs: [] };
  const alike = workloads.slice(0, 1).map((workload) => ({ ...workload, engines: { shieldlog: same, clickhouse: same } }));
  const page = raceHtml({ ...full, sizes: [1_000_000, 4_000_000].map((events) => ({ ...size, events, workloads: alike })) });
  const [, plot = ''] = page.match(/<title id="growth-1-title">(.*?)<\/svg>/s) ?? [];
  const [one = 0, other = 0] = [...plot.matchAll(/<text class="value [a-z]+" x="[^"]+" y="([^"]+)">/g)].map(([, y]) => Number(y));
  expect(Math.abs(one - other)).toBe(12);
});
