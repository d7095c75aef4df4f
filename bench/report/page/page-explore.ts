import { ENGINE_LABELS, inOrder, OURS, type QuestionFigures, type RaceResult, RIVAL } from '../race-result.ts';
import { type Look, lookMs, secondShare, timesAsFastAt } from '../race-summary.ts';
import { aligned, factor, html, htmlTable, type Markup, NOTHING, tickNumber, twoDigits, whole } from './html.ts';
import { type Bar, figure, logScale, percent, plotBars } from './plots.ts';

const LOOKS = [
  { look: 'firstMs', id: 'first', name: 'First look' },
  { look: 'secondMs', id: 'second', name: 'Second look' },
] as const;

/** The times of both looks at the questions of the explorer, as bars and as a table. */
export function exploreSection({ questions }: Pick<RaceResult, 'questions'>): Markup {
  if (questions.length === 0) {
    return NOTHING;
  }
  const engines = [OURS, RIVAL].filter((engine) => questions.some((question) => question.engines[engine] !== undefined));
  const compared = engines.length > 1;
  const scale = logScale(
    questions.flatMap((question) => LOOKS.flatMap(({ look }) => barsOf(question, look).flatMap(({ spread }) => spread))),
  );
  const rowOf = (question: QuestionFigures, look: Look) => {
    const times = timesAsFastAt(question, OURS, RIVAL, look);
    const note = Number.isNaN(times) ? '' : factor(times);
    return { label: question.title, bars: barsOf(question, look), note, isLoss: times < 1 };
  };
  const plots = LOOKS.map(({ look, id, name }) => {
    const plot = plotBars({
      id: `bars-${id}-look`,
      title: `${name}: median time of every question`,
      description: 'Horizontal bars on a logarithmic scale of milliseconds; all their figures are in the table below.',
      scale,
      shown: twoDigits,
      tick: tickNumber,
      noteHeading: compared ? 'as fast' : '',
      rows: questions.map((question) => rowOf(question, look)),
    });
    return figure(html`<strong>${name}</strong>, ms`, plot);
  });
  const times = (value: number) => (value < 1 ? html`<strong class="loss">${factor(value)}</strong>` : html`${factor(value)}`);
  const columns = [...engines.map((engine) => ENGINE_LABELS[engine]), ...(compared ? ['times as fast'] : [])];
  const table = htmlTable({
    id: 'questions-table',
    caption: 'Questions of the explorer: median times in milliseconds, and what share of the first look the second one takes',
    head: 'Question',
    groups: [
      { name: '', columns: ['events found'] },
      ...LOOKS.map(({ name }) => ({ name: `${name}, ms`, columns })),
      { name: 'Second of first', columns: engines.map((engine) => ENGINE_LABELS[engine]) },
    ],
    rows: questions.map((question) => [
      question.title,
      whole(question.total),
      ...LOOKS.flatMap(({ look }) => [
        ...engines.map((engine) => aligned(lookMs(question, engine, look))),
        ...(compared ? [times(timesAsFastAt(question, OURS, RIVAL, look))] : []),
      ]),
      ...engines.map((engine) => percent(Number(secondShare(question, engine).toFixed(2)))),
    ]),
  });
  return html`<section id="explore"><h2>Questions of the explorer</h2>
<p>Each question has a histogram by action, ten values of each of nine fields, 50 rows and the total. The second look is about the same
search: another page, or other six hours.</p>
<div class="multiples wide">${plots}</div>
${table}
</section>`;
}

function barsOf(question: QuestionFigures, look: Look): Bar[] {
  return inOrder(question.engines).map(({ engine, figures }) => ({
    engine,
    value: lookMs(question, engine, look),
    spread: [Math.min(...figures[look]), Math.max(...figures[look])],
  }));
}
