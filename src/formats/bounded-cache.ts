/** Texts longer than this are not worth keeping. */
const LONGEST_KEY = 256;

/**
 * `compute` with its answers kept for texts that come again and again, such as hosts and addresses. At `capacity` answers all are
 * forgotten, which costs less than keeping account of which was used last.
 */
export function cached<Value, Key extends string = string>(capacity: number, compute: (text: Key) => Value): (text: Key) => Value {
  const answers = new Map<Key, Value>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) {
      return known;
    }
    const answer = compute(text);
    if (text.length <= LONGEST_KEY) {
      if (answers.size >= capacity) {
        answers.clear();
      }
      answers.set(text, answer);
    }
    return answer;
  };
}
