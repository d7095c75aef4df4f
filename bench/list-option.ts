/**
 * A command-line option that is a list of names, separated by commas; anything else ends the program with status 2 and a line that says
 * why.
 */
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
