import { effect, signal, useSignal } from '@preact/signals';
import { accessKey, keyRefusal, setAccessKey } from '../api/access-key.ts';
import { askAgain } from '../state/answers.ts';
import { Dialog } from '../widgets/dialog.ts';
import { html } from '../widgets/html.ts';

const isOpen = signal(false);

/** Opens the dialog when the program asks for a key, whatever was asked of it. */
export function startAskingForKey(): void {
  effect(() => {
    if (keyRefusal.value !== null) isOpen.value = true;
  });
}

/** The button and the dialog for the access key. */
export function KeyButton() {
  const open = (): void => {
    isOpen.value = true;
  };
  return html`<button class="quiet" onClick=${open}>${accessKey.value === '' ? 'Key' : 'Key set'}</button>
    ${isOpen.value ? html`<${KeyDialog} />` : null}`;
}

function KeyDialog() {
  const typed = useSignal('');
  const close = (): void => {
    isOpen.value = false;
  };
  const use = (key: string): void => {
    close();
    if (key === accessKey.peek()) askAgain();
    else setAccessKey(key);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    use(typed.value.trim());
  };
  const refusal = keyRefusal.value;
  return html`<${Dialog} title="Access key" onClose=${close}>
    ${refusal === null ? null : html`<p class="fault" role="alert">${refusal.message}</p>`}
    <form class="key-form" onSubmit=${submit}>
      <label>
        Key
        <input
          name="accessKey"
          type="password"
          autocomplete="off"
          autofocus
          value=${typed.value}
          onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
            typed.value = currentTarget.value;
          }}
        />
      </label>
      <p class="dim">It is kept until this tab is closed, and is in no link.</p>
      <div class="row">
        <button type="submit" class="primary" disabled=${typed.value.trim() === ''}>Use it</button>
        ${accessKey.value === '' ? null : html`<button onClick=${() => use('')}>Forget the key</button>`}
      </div>
    </form>
  <//>`;
}
