import { render } from 'preact';
import { Page } from './page.ts';
import { startAsking } from './state/answers.ts';
import { html } from './widgets/html.ts';

startAsking();
render(html`<${Page} />`, document.body);
