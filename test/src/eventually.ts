const POLL_MS = 20;

/** Waits until `condition` holds; rejects after `withinMs`, naming what was waited for. */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
