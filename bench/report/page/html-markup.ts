/** Text that is HTML already and may go into a page as it is. */
export interface Markup {
  readonly kind: 'markup';
  readonly text: string;
}

export type MarkupPart = string | number | Markup | readonly MarkupPart[];

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const NOTHING: Markup = { kind: 'markup', text: '' };

/** A template of HTML: whatever is put into it is escaped, for text and for quoted attributes, unless it is markup itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  return { kind: 'markup', text: strings.map((text, place) => `${place === 0 ? '' : written(parts[place - 1] ?? '')}${text}`).join('') };
}

function written(part: MarkupPart): string {
  if (typeof part === 'string' || typeof part === 'number') {
    return String(part).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] as string);
  }
  return 'kind' in part ? part.text : part.map(written).join('');
}
