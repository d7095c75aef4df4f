import { type ConcurrencyFigures, inOrder, type RaceResult } from '../race-result.ts';
import { aligned, html, htmlTable, type Markup, NOTHING, tickNumber, twoDigits, whole } from './html.ts';
import { figure, fittedLogScale, linearScale, logScale, plotLines } from './plots.ts';

const RATE = 'Answers a second';
const LATENCY = 'Median time of an answer, ms';

/** Answers a second and their times for several clients at once. */
export function concurrencySection({ concurrency }: Pick<RaceResult, 'concurrency'>): Markup {
  const measured = inOrder(concurrency).filter(({ figures }) => figures.length > 0);
  if (measured.length === 0) {
    return NOTHING;
  }
  const clients = [...new Set(measured.flatMap(({ figures }) => figures.map((one) => one.clients)))].toSorted((a, b) => a - b);
  const x = { scale: fittedLogScale(clients), shown: whole, tick: whole };
  const linesOf = (figureOf: (figures: ConcurrencyFigures) => number) =>
    measured.map(({ engine, label, figures }) => {
      const points = figures.map((one) => ({ x: one.clients, y: figureOf(one) }));
      return { engine, points, label: `${label} ${twoDigits(points.at(-1)?.y ?? Number.NaN)}` };
    });
  const plot = (
    id: string,
    title: string,
    figureOf: (figures: ConcurrencyFigures) => number,
    scaleOf: typeof linearScale,
    kind: string,
  ) => {
    const lines = linesOf(figureOf);
    const y = { scale: scaleOf(lines.flatMap(({ points }) => points.map((point) => point.y))), shown: twoDigits, tick: tickNumber };
    const atMost = lines.map(({ label }) => label).join(', ');
    const description = `Over the number of clients, which is on a logarithmic scale; at the most clients ${atMost}.`;
    return figure(
      `${title} (${kind} scale)`,
      plotLines({ id, title: `${title} over the number of clients`, description, width: 400, height: 210, right: 116, x, y, lines }),
    );
  };
  const table = htmlTable({
    id: 'concurrency-table',
    caption: 'Searches over HTTP by several clients',
    head: 'Engine and clients',
    groups: [{ name: '', columns: ['answers/s', 'p50, ms', 'p99, ms', 'errors'] }],
    rows: measured.flatMap(({ label, figures }) =>
      figures.map((one) => [
        `${label}, ${one.clients === 1 ? '1 client' : `${whole(one.clients)} clients`}`,
        one.requestsPerSecond.toFixed(1),
        aligned(one.p50Ms),
        aligned(one.p99Ms),
        one.errors === 0 ? '0' : html`<strong class="loss">${whole(one.errors)}</strong>`,
      ]),
    ),
  });
  const plots = [
    plot('rate', RATE, ({ requestsPerSecond }) => requestsPerSecond, linearScale, 'linear'),
    plot('answer-time', LATENCY, ({ p50Ms }) => p50Ms, logScale, 'logarithmic'),
  ];
  return html`<section id="concurrency"><h2>Several clients</h2>
<p>Over HTTP, every client asks all searches in turn, each as soon as it has the answer to the one before. Across: the number of clients, on
a logarithmic scale.</p>
<div class="multiples wide">${plots}</div>
${table}
</section>`;
}
