/** A text that is HTML and goes into a page unescaped. */
export interface Markup {
  readonly kind: 'markup';
  readonly text: string;
}

export type MarkupPart = string | number | Markup | readonly MarkupPart[];

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const NOTHING: Markup = { kind: 'markup', text: '' };

/** Template tag for HTML. Its values are escaped for text and for quoted attributes unless they are markup. */
export function html(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return { kind: 'markup', text: strings.map((text, index) => `${index === 0 ? '' : written(parts[index - 1] ?? '')}${text}`).join('') };
}

function written(part: MarkupPart): string {
  if (typeof part === 'string' || typeof part === 'number') {
    return String(part).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] as string);
  }
  return 'kind' in part ? part.text : part.map(written).join('');
}

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const FULL = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Blanks as wide as a point and a digit, by which whole numbers are aligned with those that have one decimal. */
const NO_DECIMAL = '\u2008\u2007';

const UNKNOWN = '–';

const when = (value: number, shown: (value: number) => string) => (Number.isFinite(value) ? shown(value) : UNKNOWN);

/** A whole number with separators. */
export const whole = (value: number) => when(value, (finite) => FULL.format(finite));

/** A short form such as 20M or 500K. */
export const short = (value: number) => when(value, (finite) => SHORT.format(finite));

/** One decimal below ten, none above, because a measurement is no more exact. */
export const twoDigits = (value: number) => when(value, (finite) => (finite < 9.95 ? TENTHS : FULL).format(finite));

/** The same, aligned in a column. */
export const aligned = (value: number) =>
  when(value, (finite) => (finite < 9.95 ? TENTHS.format(finite) : `${FULL.format(finite)}${NO_DECIMAL}`));

export const factor = (value: number) => when(value, (finite) => `${finite.toFixed(2)}×`);

/** An exponent, or a ratio without a sign. */
export const power = (value: number) => when(value, (finite) => finite.toFixed(2));

/** A round number on an axis. */
export const tickNumber = (value: number) => (value < 1 ? String(Number(value.toPrecision(1))) : whole(value));

/** Bytes in MiB. */
export const mebibytes = (bytes: number) => whole(bytes / 1024 ** 2);

export interface HtmlTable {
  /** Unique within the page. */
  readonly id: string;
  readonly caption: MarkupPart;
  /** Groups of columns after the first. Each has its name above the headings of its columns, unless the name is empty. */
  readonly groups: readonly { readonly name: string; readonly columns: readonly string[] }[];
  /** The heading of the first column. */
  readonly head: string;
  /** The first cell names the row. */
  readonly rows: readonly (readonly MarkupPart[])[];
  /** A last row with a summary of the others. */
  readonly summary?: readonly MarkupPart[];
}

/** Tables with more rows get lines between them. */
const LONG = 9;

/** A table of figures. It scrolls sideways if the page is too narrow for it. */
export function htmlTable({ id, caption, groups, head, rows, summary }: HtmlTable): Markup {
  const grouped = groups.some(({ name }) => name !== '');
  const columns = groups.flatMap((group) => group.columns.map((column, index) => html`<th scope="col"${starts(index)}>${column}</th>`));
  const first = html`<th class="name" scope="col"${grouped ? html` rowspan="2"` : NOTHING}>${head}</th>`;
  const above = groups.map(({ name, columns: { length } }) =>
    name === ''
      ? html`<td colspan="${length}" class="starts"></td>`
      : html`<th scope="colgroup" colspan="${length}" class="starts">${name}</th>`,
  );
  const starting = groups.flatMap((group) => group.columns.map((_, index) => starts(index)));
  const row = ([name = '', ...cells]: readonly MarkupPart[]) => {
    const figures = cells.map((cell, index) => html`<td${starting[index] ?? NOTHING}>${cell}</td>`);
    return html`<tr><th class="name" scope="row">${name}</th>${figures}</tr>\n`;
  };
  return html`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption id="${id}">${caption}</caption>
<thead>${grouped ? html`<tr>${first}${above}</tr><tr>${columns}</tr>` : html`<tr>${first}${columns}</tr>`}</thead>
<tbody${rows.length > LONG ? html` class="long"` : NOTHING}>
${rows.map(row)}</tbody>
${summary === undefined ? NOTHING : html`<tfoot>${row(summary)}</tfoot>\n`}</table></div>`;
}

/** Sets the first column of a group off from the column before it. */
function starts(index: number): Markup {
  return index === 0 ? html` class="starts"` : NOTHING;
}
