import htm from 'htm';
import { type ComponentChild, h, type VNode } from 'preact';
import { printable, SHOWN_AS_ESCAPES } from '../../query/search-line.ts';

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

// htm's declarations say that its default export has a member `default`, which it has not.
const bound = htm as unknown as { readonly bind: (make: (...parts: Parameters<typeof h>) => VNode) => Template };

/**
 * Makes an element anew for each drawing. By itself, htm keeps elements without values, and Preact leaves in each of them the tree in
 * which it was drawn first, so that answers and tables that are long replaced would stay in memory.
 */
function make(this: number[], ...[type, props, ...children]: Parameters<typeof h>): VNode {
  this[0] = MADE_ANEW;
  const shown = shownProps(type, props as Record<string, unknown> | null);
  return h(type, type === 'button' ? { type, ...shown } : shown, ...(children.map(drawn) as ComponentChild[]));
}

/** In htm's list of what an element is made of: nothing of it may be kept. */
const MADE_ANEW = 3;

const template = bound.bind(make);

/**
 * Markup of components. Values are always text or elements: nothing here takes HTML from a value. Characters of a value that change the
 * direction of text or that nobody sees are drawn as marked escapes, so that no value looks like another one: as text, as `title` and in
 * what screen readers are told. All other properties, such as the text of a field, have the value itself. A button that has no `type`
 * sends no form.
 */
export const html: Template = (strings, ...values) => template(strings, ...values.map(marked));

/** A text with such characters that came as a value. The template's own texts, which have line ends, are none. */
class OddText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For htm, which joins values with the text around them. */
  toString(): string {
    return this.text;
  }
}

function marked(value: unknown): unknown {
  if (Array.isArray(value)) return value.some((one) => typeof one === 'string') ? value.map(marked) : value;
  return typeof value === 'string' && ODD.test(value) ? new OddText(value) : value;
}

/** htm makes the object anew for each drawing, so that it may be changed. */
function shownProps(type: unknown, props: Record<string, unknown> | null): Record<string, unknown> | null {
  for (const [name, value] of Object.entries(props ?? {})) {
    const own = value instanceof OddText ? value.text : value;
    const isRead = typeof type === 'string' && typeof own === 'string' && (name === 'title' || name.startsWith('aria-'));
    if (props !== null) props[name] = isRead ? printable(own) : own;
  }
  return props;
}

const ODD = new RegExp(`([${SHOWN_AS_ESCAPES}])`, 'u');

/** A line end stays behind its escape: in a log the lines are told apart. */
function drawn(child: unknown): unknown {
  if (Array.isArray(child)) return child.map(drawn);
  if (!(child instanceof OddText)) return child;
  return child.text.split(ODD).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const mark = h('span', { class: 'escape' }, printable(piece));
    return piece === '\n' ? [mark, piece] : mark;
  });
}

/** What a component takes between its tags. */
export type Children = ComponentChild | ComponentChild[];
