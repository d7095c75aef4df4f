import { ColumnChoice, shownColumns } from './events/column-choice.ts';
import { EventDrawer } from './events/event-drawer.ts';
import { neighboursOf } from './events/event-pages.ts';
import { EventsPanel } from './events/events-panel.ts';
import { NewEvents } from './events/new-events.ts';
import { DownloadMenu } from './files/download-menu.ts';
import { GroupBy } from './groups/group-by.ts';
import { GroupsPanel } from './groups/groups-panel.ts';
import { LivePanel, LiveSwitch } from './live/live-panel.ts';
import { liveNeighboursOf } from './live/live-tail.ts';
import { answered } from './state/answers.ts';
import { explorer } from './state/explorer.ts';
import { html } from './widgets/html.ts';

/** The lower half of the page: events, groups, or events as they come in, and the event that is shown whole. */
export function Results() {
  const { groupBy, isLive } = explorer.value;
  const shown = answered.value;
  // What the last answer has, and not what is chosen by now: the table of the other kind has nothing of this answer.
  const hasGroups = shown === null ? groupBy.length > 0 : shown.answer.groups !== null;
  const shows = isLive ? 'live' : hasGroups ? 'groups' : 'events';
  const Table = { live: LivePanel, groups: GroupsPanel, events: EventsPanel }[shows];
  return html`<section class="panel results" aria-label="Results">
      <header class="table-bar">
        <h2>${{ live: 'Live', groups: 'Groups', events: 'Events' }[shows]}</h2>
        ${isLive ? null : html`<${GroupBy} />`}
        <${LiveSwitch} />
        ${isLive ? null : html`<${NewEvents} />`}
        <span class="gap"></span>
        <${DownloadMenu} columns=${() => (shows === 'groups' ? null : shownColumns())} />
        ${shows === 'groups' ? null : html`<${ColumnChoice} />`}
      </header>
      <${Table} />
    </section>
    <${EventDrawer} neighboursOf=${isLive ? liveNeighboursOf : neighboursOf} />`;
}
