import { html, type Markup, type MarkupPart, NOTHING } from './html-markup.ts';

export interface HtmlTable {
  /** Unique within the page. */
  readonly id: string;
  readonly caption: MarkupPart;
  /** Groups of columns after the first, each with a heading of its own above theirs; a group without a name has none. */
  readonly groups: readonly { readonly name: string; readonly columns: readonly string[] }[];
  /** What the first column holds. */
  readonly head: string;
  /** The first cell names the row. */
  readonly rows: readonly (readonly MarkupPart[])[];
  /** A last row that sums up the others. */
  readonly summary?: readonly MarkupPart[];
}

/** Rows from which on lines between them guide the eye. */
const LONG = 9;

/** A table of figures that scrolls sideways by itself where the page is too narrow for it. */
export function htmlTable({ id, caption, groups, head, rows, summary }: HtmlTable): Markup {
  const grouped = groups.some(({ name }) => name !== '');
  const columns = groups.flatMap((group) => group.columns.map((column, place) => html`<th scope="col"${starts(place)}>${column}</th>`));
  const first = html`<th class="name" scope="col"${grouped ? html` rowspan="2"` : NOTHING}>${head}</th>`;
  const above = groups.map(({ name, columns: { length } }) =>
    name === ''
      ? html`<td colspan="${length}" class="starts"></td>`
      : html`<th scope="colgroup" colspan="${length}" class="starts">${name}</th>`,
  );
  const starting = groups.flatMap((group) => group.columns.map((_, place) => starts(place)));
  const row = (cells: readonly MarkupPart[]) =>
    html`<tr><th class="name" scope="row">${cells[0] ?? ''}</th>${cells.slice(1).map((cell, place) => html`<td${starting[place] ?? NOTHING}>${cell}</td>`)}</tr>\n`;
  return html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption id="${id}">${caption}</caption>
<thead>${grouped ? html`<tr>${first}${above}</tr><tr>${columns}</tr>` : html`<tr>${first}${columns}</tr>`}</thead>
<tbody${rows.length > LONG ? html` class="long"` : NOTHING}>
${rows.map(row)}</tbody>
${summary === undefined ? NOTHING : html`<tfoot>${row(summary)}</tfoot>\n`}</table></div>`;
}

/** A group of columns is set off from the one before it. */
function starts(place: number): Markup {
  return place === 0 ? html` class="starts"` : NOTHING;
}
