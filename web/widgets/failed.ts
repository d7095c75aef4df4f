import { html } from './html.ts';

export interface FailedProps {
  /** What is not there because of it, with a colon. */
  readonly what?: string;
  readonly failure: { readonly message: string };
  readonly askAgain: () => void;
}

/** Why something is not there, with a button that asks again. */
export function Failed({ what = '', failure, askAgain }: FailedProps) {
  return html`<p class="failed" role="alert">${what} ${failure.message} <button onClick=${askAgain}>Try again</button></p>`;
}
