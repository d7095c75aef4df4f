import type { FileTarget } from './copy-stream.ts';

/** What Chromium has and other browsers have not. */
interface FilePicker {
  readonly showSaveFilePicker?: (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** A file in the memory of the page may be so long; more would end the page. */
const MOST_BYTES_IN_MEMORY = 256 * 1024 * 1024;

/**
 * Asks where a file is to be stored, if the browser lets a page write to disk; otherwise the file is gathered in memory and then handed to
 * the browser's downloads. Null: the person does not want it. Has to be called by a click.
 */
export async function openTarget(name: string): Promise<FileTarget | null> {
  const { showSaveFilePicker } = globalThis as FilePicker;
  if (showSaveFilePicker === undefined) return memoryTarget(name);
  try {
    return await diskTarget(await showSaveFilePicker({ suggestedName: name }));
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  }
}

async function diskTarget(file: FileSystemFileHandle): Promise<FileTarget> {
  const stream = await file.createWritable();
  return { write: (bytes) => stream.write(bytes), close: () => stream.close(), discard: () => stream.abort(), mostBytes: null };
}

function memoryTarget(name: string): FileTarget {
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  return {
    write: async (bytes) => {
      pieces.push(bytes);
    },
    close: async () => download(new Blob(pieces), name),
    discard: async () => {
      pieces = [];
    },
    mostBytes: MOST_BYTES_IN_MEMORY,
  };
}

/** Hands a short text to the browser's downloads. */
export function downloadText(text: string, name: string): void {
  download(new Blob([text]), name);
}

function download(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken hold of the content by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
