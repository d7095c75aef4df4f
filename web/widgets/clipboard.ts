/**
 * Writes a text to the clipboard. Browsers give the interface for it to pages by HTTPS or of this machine alone; other pages copy what is
 * selected, which a dialog allows only within it: `host`. Rejects with the reason where the browser refuses.
 */
export async function writeClipboard(text: string, host: Element = document.body): Promise<void> {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (clipboard === undefined) copySelected(text, host);
  else await clipboard.writeText(text);
}

function copySelected(text: string, host: Element): void {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'spoken';
  field.value = text;
  host.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  if (!isCopied) throw new Error('it lets pages copy only by HTTPS');
}
