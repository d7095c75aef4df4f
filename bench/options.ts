import { parseArgs } from 'node:util';

/** The whole number above zero of a command-line option. Any other text ends the program with status 2 and a line that says why. */
export function integerOption(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    process.stderr.write(`--${name}: ${JSON.stringify(text)} is not a whole number above 0\n`);
    process.exit(2);
  }
  return value;
}

/** The names of a command-line option, separated by commas. Any other name ends the program with status 2 and a line that says why. */
export function listOption<Name extends string>(option: string, text: string, names: readonly Name[]): Name[] {
  return text.split(',').map((part) => {
    const found = names.find((name) => name === part);
    if (found === undefined) {
      process.stderr.write(`--${option}: ${JSON.stringify(part)} is none of ${names.join(', ')}\n`);
      process.exit(2);
    }
    return found;
  });
}

/**
 * The options of this command line, by their defaults: where that is a number, a whole number above zero, else a text. Any other ends the
 * program.
 */
export function givenOptions<Defaults extends Readonly<Record<string, number | string>>>(
  defaults: Defaults,
  args: readonly string[] = process.argv.slice(2),
): { readonly [Name in keyof Defaults]: Defaults[Name] extends number ? number : string } {
  const usual = Object.entries(defaults);
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(usual.map(([name, value]) => [name, { type: 'string', default: String(value) } as const])),
  });
  const read = ([name, value]: (typeof usual)[number]) => {
    const text = String(values[name]);
    return [name, typeof value === 'number' ? integerOption(name, text) : text];
  };
  return Object.fromEntries(usual.map(read));
}
