import { explorer } from '../state/explorer.ts';
import { fixedLink, relativeLink } from '../state/shared-link.ts';
import { html } from '../widgets/html.ts';
import { openMenu } from '../widgets/menu.ts';
import { copy } from '../widgets/value-menu.ts';
import { rangeWords } from './time-picker.ts';

/** The button that copies the link with the times that are shown; its menu copies the one that is about the time of whoever opens it. */
export function ShareButton() {
  const { range, clock } = explorer.value;
  const items = [
    { label: 'Copy the link to these times', run: () => void copy(fixedLink()) },
    { label: `Copy the link to the ${rangeWords(range, clock)}`, run: () => void copy(relativeLink()) },
  ];
  const opened = ({ currentTarget }: MouseEvent): void =>
    openMenu({ anchor: currentTarget as HTMLElement, content: () => ({ title: 'Links', items }) });
  return html`<span class="share-buttons">
    <button title="Copy the link to what is shown, with its times" onClick=${() => void copy(fixedLink())}>Share</button>
    ${
      range.kind === 'last'
        ? html`<button aria-haspopup="menu" aria-label="Other links" title="Other links" onClick=${opened}>▾</button>`
        : null
    }
  </span>`;
}
