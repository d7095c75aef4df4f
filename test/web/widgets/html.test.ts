import { expect, test } from 'vitest';
import { html } from '../../../web/widgets/html.ts';

test('an element without values is made anew for each drawing, so that none keeps the tree in which it was drawn first', () => {
  const draw = () => html`<div><span class="gap"></span></div>`;
  const [first, second] = [draw(), draw()];
  expect(second).toMatchObject({ type: 'div', props: { children: { type: 'span', props: { class: 'gap' } } } });
  expect(second).not.toBe(first);
  expect(second.props.children).not.toBe(first.props.children);
});
