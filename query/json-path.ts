import { cutText } from './shown-value.ts';

/** The path of the body itself. */
export const BODY = '$';

/** The path of a property: `from` in the body, `filters[0].op` below it, `["odd name"]` where the name is no identifier. */
export function propertyPath(parent: string, name: string): string {
  const isPlain = /^[A-Za-z_$][\w$]{0,63}$/.test(name);
  const step = isPlain ? name : `[${JSON.stringify(cutText(name))}]`;
  if (parent === BODY) {
    return step;
  }
  return isPlain ? `${parent}.${step}` : `${parent}${step}`;
}

export function elementPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}
