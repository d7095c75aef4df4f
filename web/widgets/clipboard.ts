/**
 * Writes a text to the clipboard. Browsers give the interface for it to pages by HTTPS or of this machine alone; other pages copy what is
 * selected. Rejects with the reason where the browser refuses.
 */
export async function writeClipboard(text: string): Promise<void> {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (clipboard === undefined) copySelected(text);
  else await clipboard.writeText(text);
}

function copySelected(text: string): void {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.className = 'spoken';
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  if (!isCopied) throw new Error('it lets pages copy only by HTTPS');
}
