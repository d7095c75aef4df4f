import { accessKey } from '../api/access-key.ts';
import { explorePath } from '../api/explore.ts';
import { programNow } from '../api/program-clock.ts';
import { type Answered, answered, answeredFacets, isUpToDate } from '../state/answers.ts';
import { explorer } from '../state/explorer.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import type { OfferedColumn } from '../state/offered-columns.ts';
import { knownFacets, type Question } from '../state/question.ts';
import { TAIL_TYPE, tailPath } from '../state/tail-request.ts';
import { timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { type MenuContent, type MenuItem, openMenu } from '../widgets/menu.ts';
import { copy } from '../widgets/value-menu.ts';
import { hasByteOrderMark, marked, toggleByteOrderMark } from './byte-order-mark.ts';
import { curlCommand } from './curl-command.ts';
import { cancelExport, exportEvents, MEDIA_TYPES, runningExport } from './event-export.ts';
import { exportBody, exportPath, fileColumns } from './export-request.ts';
import { groupFileWords, storeGroups } from './group-file.ts';
import { type FileFormat, facetsFile, fileName } from './group-lines.ts';
import { downloadText } from './save-file.ts';

const FORMATS: readonly FileFormat[] = ['csv', 'ndjson'];
const FORMAT_NAMES: Readonly<Record<FileFormat, string>> = { csv: 'CSV', ndjson: 'NDJSON' };

interface DownloadProps {
  /** The columns of the table of events now; null: the table has none of events. */
  readonly columns: () => readonly OfferedColumn[] | null;
}

/** The button whose menu stores what is shown, or copies the request for it. */
export function DownloadMenu({ columns }: DownloadProps) {
  const isEmpty = answered.value === null && !explorer.value.isLive;
  const opened = (event: MouseEvent): void => openMenu({ anchor: event.currentTarget as HTMLElement, content: () => downloads(columns()) });
  const { value: running } = runningExport;
  if (running !== null) {
    // How much it is by now is for the eye: read aloud, it would be one sentence after the other.
    const size = html`<span aria-hidden="true">: ${(running.bytes / 1024 / 1024).toFixed(1)} MiB</span>`;
    return html`<span role="status">Storing ${running.name}${size}</span>
      <button onClick=${cancelExport}>Cancel the export</button>`;
  }
  return html`<button aria-haspopup="menu" disabled=${isEmpty} onClick=${opened}>Download</button>`;
}

/**
 * Of the answer that is shown when an item is chosen: the menu may be open while another one comes. The live tail needs no answer, and is
 * that of the state.
 */
function downloads(columns: readonly OfferedColumn[] | null): MenuContent {
  const now = answered.value;
  const title = titleOf(now);
  const tail = explorer.value.isLive ? [tailItem(explorer.value)] : [];
  if (now === null) return { title, items: tail };
  const files = [...eventItems(now.question), ...tableItem(now.question, columns), ...groupItems(now), ...facetItems(now)];
  return { title, items: [...files, markItem(), ...curlItems(now.question), ...tail] };
}

/** What the items are about. Events that have come live are later than the answer, and in none of its files. */
function titleOf(now: Answered | null): string {
  const { isLive, clock } = explorer.value;
  if (isLive && now !== null) return `Files of the search up to ${timeText(now.question.body.to, clock)}, without the live events`;
  return isUpToDate.value ? 'Of what is shown' : 'Of what is shown: the answer before';
}

function eventItems(question: Question): readonly MenuItem[] {
  return FORMATS.map((format) => ({
    label: `All events as ${FORMAT_NAMES[format]}`,
    run: () => void exportEvents(question, format),
  }));
}

function tableItem(question: Question, columns: readonly OfferedColumn[] | null): readonly MenuItem[] {
  if (columns === null) return [];
  const isDisabled = fileColumns(question, columns).length === 0;
  return [{ label: 'The columns of the table as CSV', run: () => void exportEvents(question, 'csv', columns), isDisabled }];
}

function markItem(): MenuItem {
  return { label: 'CSV with a byte order mark, for Excel', run: toggleByteOrderMark, isTicked: hasByteOrderMark.value };
}

function groupItems(now: Answered): readonly MenuItem[] {
  const { groups, total } = now.answer;
  if (groups === null || groups.length === 0) return [];
  return FORMATS.map((format) => ({
    label: `${groupFileWords(total)} as ${FORMAT_NAMES[format]}`,
    run: () => void storeGroups(now, format),
  }));
}

function facetItems({ question }: Answered): readonly MenuItem[] {
  if (answeredFacets.value === null) return [];
  const facets = knownFacets(answeredFacets.value);
  return FORMATS.map((format) => ({
    label: `The facets as ${FORMAT_NAMES[format]}`,
    run: () => downloadText(marked(facetsFile(facets, format), format), fileName('facets', question, format)),
  }));
}

/** Where a shell finds what is at a path of the program, behind a proxy too. */
function outsideUrl(path: string): string {
  return new URL(path, document.baseURI).href;
}

function curlItems(question: Question): readonly MenuItem[] {
  const needsKey = accessKey.peek() !== '';
  const explore = { url: outsideUrl(explorePath(question.zones)), body: question.body, needsKey };
  const events = {
    url: outsideUrl(exportPath(question)),
    body: exportBody(question, programNow()),
    accept: MEDIA_TYPES.ndjson,
    needsKey,
  };
  return [
    { label: 'Copy the request of this page as curl', run: () => void copy(curlCommand(explore)) },
    { label: 'Copy the export as curl', run: () => void copy(curlCommand(events)) },
  ];
}

function tailItem(state: ExplorerState): MenuItem {
  const needsKey = accessKey.peek() !== '';
  const tail = { url: outsideUrl(tailPath(state)), accept: TAIL_TYPE, needsKey, isStream: true };
  return { label: 'Copy the live tail as curl', run: () => void copy(curlCommand(tail)) };
}
