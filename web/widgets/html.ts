import htm from 'htm';
import { type ComponentChild, h, type VNode } from 'preact';

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

// htm's declarations say that its default export has a member `default`, which it has not.
const bound = htm as unknown as { readonly bind: (make: (...parts: Parameters<typeof h>) => VNode) => Template };

/**
 * Makes an element anew for each drawing. By itself, htm keeps elements without values, and Preact leaves in each of them the tree in
 * which it was drawn first, so that answers and tables that are long replaced would stay in memory.
 */
function make(this: number[], ...[type, props, ...children]: Parameters<typeof h>): VNode {
  this[0] = MADE_ANEW;
  return h(type, props, ...children);
}

/** In htm's list of what an element is made of: nothing of it may be kept. */
const MADE_ANEW = 3;

/** Markup of components. Values are always text or elements: nothing here takes HTML from a value. */
export const html: Template = bound.bind(make);

/** What a component takes between its tags. */
export type Children = ComponentChild | ComponentChild[];
