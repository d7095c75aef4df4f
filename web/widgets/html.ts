import htm from 'htm';
import { type ComponentChild, h, type VNode } from 'preact';

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

// htm's declarations say that its default export has a member `default`, which it has not.
const bound = htm as unknown as { readonly bind: (make: typeof h) => Template };

/** Markup of components. Values are always text or elements: nothing here takes HTML from a value. */
export const html: Template = bound.bind(h);

/** What a component takes between its tags. */
export type Children = ComponentChild | ComponentChild[];
