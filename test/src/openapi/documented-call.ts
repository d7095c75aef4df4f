import type { DescribedOperation } from './document-check.ts';
import type { Call } from './driven-answer.ts';

/** The call that an operation's examples make, with a body of that content type. */
export function documentedCall({ method, path, parameters = [], requestBody }: DescribedOperation, type: string): Call {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: location, example } of parameters) {
    if (location === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(String(example)));
    else if (example !== undefined) query.set(name, String(example));
  }
  const [example] = Object.values(requestBody?.content[type]?.examples ?? {});
  const body = typeof example?.value === 'string' ? example.value : JSON.stringify(example?.value);
  return {
    method,
    path: query.size === 0 ? filled : `${filled}?${query}`,
    headers: { 'content-type': type.replace('*', 'vnd.example') },
    ...(body === undefined ? {} : { body }),
  };
}
