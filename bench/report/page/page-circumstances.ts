import type { Circumstances } from '../race-result.ts';
import { html, type Markup } from './html-markup.ts';

/** What ran where and when: first on the page, because no figure means anything without it. */
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

/** How to get the figures again. */
export function againSection({ commit, command }: Circumstances): Markup {
  return html`<section id="again"><h2>How to run it again</h2>
<p>In a checkout of the commit <code>${commit}</code>, on a machine with nothing else to do:</p>
<pre><code>npm ci
npm ci --prefix bench
${command}</code></pre>
<p>The events are generated from a fixed seed: every machine races on the same ones. All single runs are in the JSON file beside this page.</p>
</section>`;
}
