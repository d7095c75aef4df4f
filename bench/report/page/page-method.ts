import type { Circumstances, RaceResult } from '../race-result.ts';
import { html, type Markup } from './html.ts';

/** The machine, the versions and the command. They come first on the page, because no figure has a meaning without them. */
export function circumstancesSection({ startedAt, commit, command, machine, versions }: Circumstances): Markup {
  const { cpu, cores, memoryGib, platform } = machine;
  const said = Object.entries(versions).map(([name, version]) => html`<li>${version.includes(name) ? version : `${name} ${version}`}</li>`);
  return html`<section id="circumstances" aria-label="Circumstances"><dl class="circumstances">
<div><dt>Machine</dt><dd>${cores} × ${cpu}, ${memoryGib} GiB, ${platform}</dd></div>
<div><dt>Versions</dt><dd><ul>${said}</ul></dd></div>
<div><dt>Commit</dt><dd><code>${commit}</code></dd></div>
<div><dt>Date</dt><dd><time datetime="${startedAt}">${startedAt.slice(0, 16).replace('T', ' ')} UTC</time></dd></div>
<div class="wide"><dt>Command</dt><dd><code>${command}</code></dd></div>
</dl></section>`;
}

/** How to repeat the measurement. */
export function againSection({ commit, command }: Circumstances): Markup {
  return html`<section id="again"><h2>How to run it again</h2>
<p>In a checkout of the commit <code>${commit}</code>, on a machine with nothing else to do:</p>
<pre><code>npm ci
npm ci --prefix bench
${command}</code></pre>
<p>The events are generated from a fixed seed: every machine races on the same ones. All single runs are in the JSON file beside
this page.</p>
</section>`;
}

/** The meaning of the figures. Only what was measured is described. */
export function methodSection({ sizes, questions, mixed, concurrency }: RaceResult): Markup {
  const isThere = (figures: object) => Object.keys(figures).length > 0;
  const timed = (temperature: 'hotMs' | 'coldMs' | 'rememberedMs') =>
    sizes.some(({ workloads }) => workloads.some(({ engines }) => Object.values(engines).some((times) => times[temperature].length > 0)));
  const entries = [
    {
      name: 'Answers',
      isThere: true,
      text: 'Before anything is timed, every engine answers every search, and the answers are compared value by value.',
    },
    {
      name: 'Hot',
      isThere: timed('hotMs'),
      text:
        'The median of runs in one process, after the answers were compared. The engines take turns, so that what disturbs the ' +
        'machine disturbs all of them. Results are not cached.',
    },
    {
      name: 'Cold',
      isThere: timed('coldMs'),
      text: "The first search of a fresh process that has just opened its data. The operating system's file cache may be warm.",
    },
    {
      name: 'Remembered',
      isThere: timed('rememberedMs'),
      text:
        'Hot runs of shieldlog as it is set up by itself: it remembers how many events of a flushed segment match and what ' +
        'groups they make, so a search that is asked again reads only what is new, what its window cuts and the rows it shows. ' +
        'The window and the data stay the same here, and cut nothing. In all other figures this is off. ClickHouse, whose query ' +
        'cache stays off, takes turns with it as in the hot runs.',
    },
    {
      name: 'Times as fast',
      isThere: timed('hotMs') || timed('coldMs') || questions.length > 0,
      text:
        "The rival's median divided by ours, with 10 ms added to both as ClickBench does: a difference of a millisecond in two " +
        'is no difference. Over all searches: the geometric mean of these.',
    },
    {
      name: 'Intake',
      isThere: sizes.some(({ intake }) => isThere(intake)),
      text:
        'Files of NDJSON into an empty engine as fast as it goes: until every event is stored and searchable, and further until ' +
        'nothing is left to be merged. Each file is read once before, past the memory of the operating system, so that no engine ' +
        'pays for being the first to read it. Until then the process kept so many cores busy on average: with fewer than there ' +
        'are it waited for the disk or for itself. Peak memory is the largest resident size of the process until all was ' +
        'searchable; shieldlog runs with the memory limit it has by itself, ClickHouse without any. The size on disk is taken ' +
        'after merging.',
    },
    {
      name: 'Growth',
      isThere: sizes.length > 1,
      text: 'The slope of the straight line through the logarithms of the hot medians over those of the numbers of events.',
    },
    {
      name: 'Questions of the explorer',
      isThere: questions.length > 0,
      text:
        'Each run has a process of its own, in which the engine answers the same question about another zone before. Then come the ' +
        'first look, of which nothing is remembered, and the second one about the same search, which is another one in each run. ' +
        'shieldlog is set up as it is by itself and remembers what it counted; the query cache of ClickHouse stays off, and it is asked ' +
        'everything again. The answers to all looks are compared.',
    },
    {
      name: 'While events come in',
      isThere: isThere(mixed),
      text:
        'The searches of an open dashboard, one every 100 ms or as soon as the one before has ended where that took longer: ' +
        'alone, then while a file comes in, then both again with another file after everything was merged, so that what disturbs ' +
        'the machine for a while disturbs both.',
    },
    {
      name: 'Several clients',
      isThere: isThere(concurrency),
      text:
        'Each client sends the searches one after the other over HTTP and waits for each answer. Only answers of status 2xx ' +
        'count as answers; all others, and timeouts, are errors.',
    },
  ].filter((entry) => entry.isThere);
  return html`<section id="method"><h2>What is measured and how</h2><dl class="method">
${entries.map(({ name, text }) => html`<div><dt>${name}</dt><dd>${text}</dd></div>\n`)}</dl></section>`;
}
