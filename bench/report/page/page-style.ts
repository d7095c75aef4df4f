/** The style of the page. One colour marks our engine, a second one warns. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fffffa; --ink: #1c1c1a; --soft: #5f5f59; --rule: #d9d8cf; --grid: #ebeae1;
  --ours: #0b62a4; --rival: #77756c; --rival-fill: #e3e1d6; --loss: #a83200; --code: #f4f3ea;
  --sans: system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", Georgia, "Liberation Serif", serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161614; --ink: #e9e8e1; --soft: #a3a298; --rule: #3c3b36; --grid: #2a2926;
    --ours: #58a9ee; --rival: #a09e93; --rival-fill: #35342f; --loss: #ff9b6b; --code: #201f1c;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.5 var(--serif); }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.15; font-weight: 400; margin: 0 0 .35rem; text-wrap: balance; }
h2 { font-size: 1.35rem; font-weight: 400; font-style: italic; margin: 0 0 .75rem; }
section { margin-top: 3rem; }
#circumstances { margin-top: 1.5rem; }
p { max-width: 44rem; margin: 0 0 1rem; }
.lead { color: var(--soft); margin: 0; }
code { font: .84em/1.45 ui-monospace, "Liberation Mono", monospace; overflow-wrap: anywhere; unicode-bidi: isolate; }
pre { background: var(--code); padding: .75rem 1rem; margin: 0 0 1rem; overflow-x: auto; }
pre code { overflow-wrap: normal; }
dl, dd, ul { margin: 0; padding: 0; }
.circumstances { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: .75rem 2rem; padding: .9rem 0;
  border-block: 1px solid var(--rule); font: .82rem/1.45 var(--sans); }
.circumstances .wide { grid-column: 1 / -1; }
.circumstances ul { list-style: none; }
dt { color: var(--soft); font: .78rem/1.4 var(--sans); }
.alert { border: 3px solid var(--loss); padding: 1rem 1.25rem; }
.alert h2, .alert strong { color: var(--loss); font-style: normal; font-weight: 700; }
.alert li { margin-left: 1.1rem; }
.headline { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 1rem 2.5rem; margin-bottom: 1.25rem; }
.headline div { display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.headline dd { font-size: 3.1rem; line-height: 1.1; font-variant-numeric: lining-nums tabular-nums; color: var(--ours); }
.headline dd span { font-size: 1rem; margin-left: .4rem; }
.headline .loss { font-weight: 400; }
.headline .loss dd { color: var(--loss); }
.headline dt { max-width: 17rem; font-size: .85rem; }
.verdict { font-size: 1.12rem; }
figure { margin: 0 0 1.75rem; min-width: 0; }
figcaption, .legend { font: .85rem/1.45 var(--sans); color: var(--soft); margin-bottom: .6rem; max-width: 48rem; }
.multiples { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.75rem, 1fr)); gap: .5rem 1.25rem; }
.multiples svg { max-width: 30rem; }
.multiples.wide { grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .5rem 2.5rem; }
.multiples figure { display: flex; flex-direction: column; justify-content: flex-end; margin-bottom: 1rem; }
.multiples.wide figure { justify-content: flex-start; }
.multiples figcaption { color: var(--ink); margin-bottom: .2rem; font-size: .78rem; line-height: 1.3; }
svg { display: block; max-width: 100%; overflow: visible; font: 12px var(--sans); fill: var(--ink); font-variant-numeric: tabular-nums; }
svg svg { display: inline; overflow: hidden; }
svg svg.over { overflow: visible; }
.grid { stroke: var(--grid); stroke-width: 1; shape-rendering: crispEdges; }
.tick { fill: var(--soft); font-size: 11px; text-anchor: middle; }
.tick.end, .note { text-anchor: end; }
.label { font-size: 13px; }
.group { font-size: 13px; font-weight: 600; }
.value { font-size: 11.5px; }
.loss { color: var(--loss); fill: var(--loss); font-weight: 700; }
.bar.shieldlog, .mark.shieldlog { fill: var(--ours); }
.bar.clickhouse { fill: var(--rival-fill); stroke: var(--rival); }
.mark.clickhouse { fill: var(--paper); stroke: var(--rival); stroke-width: 1.5; }
.mark.shieldlog { stroke: var(--paper); }
.spread { stroke: var(--ink); stroke-width: 1; }
.line { fill: none; stroke-width: 1.75; }
.line.shieldlog, .rug.shieldlog { stroke: var(--ours); }
.line.clickhouse, .rug.clickhouse { stroke: var(--rival); }
.line.clickhouse { stroke-dasharray: 5 3; }
.rug { fill: none; opacity: .4; vector-effect: non-scaling-stroke; }
text.shieldlog, tspan.shieldlog { fill: var(--ours); font-weight: 600; }
.key { font: .85rem var(--sans); white-space: nowrap; color: var(--ink); margin-right: .5em; }
.key::before { content: ""; display: inline-block; width: 1.5em; height: .62em; margin-right: .4em; }
.key.shieldlog::before { background: var(--ours); }
.key.clickhouse::before { background: var(--rival-fill); outline: 1px solid var(--rival); outline-offset: -1px; }
.line-key.shieldlog::before, .line-key.clickhouse::before {
  background: none; outline: none; height: 0; vertical-align: .25em; border-top: 2px solid var(--ours);
}
.line-key.clickhouse::before { border-top: 2px dashed var(--rival); }
.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
table { border-collapse: collapse; font: .82rem/1.35 var(--sans); font-variant-numeric: tabular-nums; width: 100%; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; font-size: .85rem; }
th, td { padding: .28rem .6rem; text-align: right; font-weight: 400; white-space: nowrap; }
th.name { text-align: left; padding-left: 0; white-space: normal; min-width: 9rem; }
thead th { color: var(--soft); vertical-align: bottom; white-space: normal; }
thead th[scope="colgroup"] { text-align: center; border-bottom: 1px solid var(--rule); color: var(--ink); }
thead tr:last-child > *, thead th[rowspan] { border-bottom: 1px solid var(--ink); }
.starts { padding-left: 1.4rem; }
.long tr:nth-child(5n):not(:last-child) > * { border-bottom: 1px solid var(--rule); }
tfoot > tr > * { border-top: 1px solid var(--ink); font-weight: 600; }
summary { cursor: pointer; font: .85rem var(--sans); color: var(--soft); margin-bottom: .75rem; }
.method { display: grid; gap: .8rem; max-width: 50rem; }
.method div { display: grid; grid-template-columns: 9rem 1fr; gap: 0 1.5rem; }
.method dt { font-size: .85rem; padding-top: .15rem; color: var(--ink); }
.method dd { font-size: .95rem; }
@media (min-width: 60rem) { .multiples:not(.wide) { grid-template-columns: repeat(5, 1fr); } }
@media (max-width: 40rem) {
  body { font-size: 16px; }
  main { padding-top: 1.5rem; }
  h1 { font-size: 1.6rem; }
  .method div { grid-template-columns: 1fr; }
  th, td { padding-inline: .4rem; }
  th.name { position: sticky; left: 0; background: var(--paper); min-width: 7.5rem; }
}
@media print { body { font-size: 11pt; } figure, tr { break-inside: avoid; } }
`;
