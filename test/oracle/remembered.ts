/** Remembers this many results, and forgets all of them beyond. */
const RESULTS = 200_000;

/** The same function of a text, computed once for each text: the oracle asks about the same events again and again. */
export function remembered<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined || results.has(text)) return known as Result;
    const result = compute(text);
    if (results.size >= RESULTS) results.clear();
    results.set(text, result);
    return result;
  };
}
