import type { VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { printable } from '../../../query/search-line.ts';
import { html } from '../../../web/widgets/html.ts';

const props = (node: VNode): Readonly<Record<string, unknown>> => node.props as unknown as Readonly<Record<string, unknown>>;

/** The text of drawn children, with each escape in angle brackets. */
function textOf(child: unknown): string {
  if (Array.isArray(child)) return child.map(textOf).join('');
  if (typeof child !== 'object' || child === null) return String(child ?? '');
  const { children, class: name } = props(child as VNode);
  return name === 'escape' ? `<${textOf(children)}>` : textOf(children);
}

const drawn = (node: VNode): string => textOf(props(node)['children']);

const ODD: readonly (readonly [character: string, escape: string])[] = [
  ...['\0', '\t', '\r', '\u001b', '\u007f', '\u0085', '\u00ad', '\u061c', '\u200b', '\u200e', '\u200f', '\u2028', '\u2029'],
  ...['\u202a', '\u202e', '\u2060', '\u2066', '\u2069', '\ufeff'],
].map((character) => [character, printable(character)]);

describe.each(ODD)('a character that would not be seen for what it is (%j)', (character, mark) => {
  const text = `a${character}b`;

  test('is a marked escape, also among others, in a list, and between the tags of a component', () => {
    const Passed = ({ children }: { readonly children: unknown }) => children as VNode;
    expect(mark).toMatch(/^\\u[\da-f]{4}$/);
    expect(drawn(html`<b>${text}</b>`)).toBe(`a<${mark}>b`);
    expect(drawn(html`<b>x ${text}${character}</b>`)).toBe(`x a<${mark}>b<${mark}>`);
    expect(drawn(html`<b>${[text, 'c']}</b>`)).toBe(`a<${mark}>bc`);
    expect(drawn(html`<${Passed}>${text}<//>`)).toBe(`a<${mark}>b`);
  });

  test('is an escape in what a tooltip and a screen reader say, and itself in every other property', () => {
    const Component = () => null;
    const element = html`<input title=${text} aria-label=${`x ${text}`} aria-description="y ${text}" value=${text} />`;
    const shown = `a${mark}b`;
    expect(props(element)).toMatchObject({ title: shown, 'aria-label': `x ${shown}`, 'aria-description': `y ${shown}`, value: text });
    expect(props(html`<${Component} title=${text} field="z ${text}" />`)).toEqual({ title: text, field: `z ${text}` });
    expect(html`<li key=${text} />`.key).toBe(text);
  });
});

test('a line end is an escape and stays one, so that the lines of a log are told apart; those of a template are none', () => {
  expect(drawn(html`<b>${'one\ntwo'}</b>`)).toBe('one<\\u000a>\ntwo');
  const long = html`<p>
    one
    two
  </p>`;
  expect(drawn(long)).toMatch(/^one\s+two$/);
});

test.each(['plain', 'größe', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645', '👩\u200d💻', '❤\ufe0f'])(
  '%s is drawn as it is',
  (text) => {
    expect(props(html`<b title=${text}>${text}</b>`)).toEqual({ title: text, children: text });
  },
);
