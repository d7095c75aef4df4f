import { html, type Markup, type MarkupPart, NOTHING } from './html-markup.ts';

export interface PlotText {
  /** Unique within the page. */
  readonly id: string;
  /** Read out in place of the picture, with the description. */
  readonly title: string;
  readonly description: string;
}

/** An SVG as wide as its place, whose text stays as large as the page's: what is drawn is placed in per cent across and pixels down. */
export function fluidSvg(text: PlotText, height: number, content: MarkupPart): Markup {
  return svg(text, html`width="100%" height="${height}"`, content);
}

/** An SVG of a fixed shape. */
export function fixedSvg(text: PlotText, width: number, height: number, content: MarkupPart): Markup {
  return svg(text, html`viewBox="0 0 ${width} ${height}"`, content);
}

function svg({ id, title, description }: PlotText, size: Markup, content: MarkupPart): Markup {
  return html`<svg role="img" aria-labelledby="${id}-title ${id}-description" ${size}>
<title id="${id}-title">${title}</title>
<desc id="${id}-description">${description}</desc>
${content}
</svg>`;
}

/** A figure with its caption above. */
export function figure(caption: MarkupPart, content: MarkupPart, className = ''): Markup {
  return html`<figure${className === '' ? NOTHING : html` class="${className}"`}>
<figcaption>${caption}</figcaption>
${content}
</figure>`;
}

/** A place between 0 and 1 as a percentage. */
export const percent = (place: number) => `${Number((place * 100).toFixed(2))}%`;
