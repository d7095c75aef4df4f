/** The errors of the system that are a file's own: it is missing, or the disk does not give its content. */
const FAULTS: readonly string[] = ['ENOENT', 'EIO'];

/** What went wrong with a file, where closing it went wrong afterwards, too. */
export function firstError(error: unknown): unknown {
  return error instanceof SuppressedError ? firstError(error.suppressed) : error;
}

/**
 * Whether an error that came while a file was read is the file's own fault. Others of the system, such as that too many files are open or
 * that there is no memory, say nothing about it.
 */
export function isFaultOfFile(thrown: unknown): boolean {
  const error = firstError(thrown);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isOfSystem = error instanceof Error && ('syscall' in error || /allocation failed/.test(error.message));
  return !isOfSystem || FAULTS.includes(String(code));
}

/** Whether what is wrong with a file may be over a moment later: the disk gave nothing, which says nothing about what it holds. */
export function mayPass(fault: string): boolean {
  return fault.startsWith('EIO');
}
