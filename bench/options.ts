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
