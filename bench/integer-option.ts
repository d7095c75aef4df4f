/** A command-line option that is a whole number above zero; anything else ends the program with status 2 and a line that says why. */
export function integerOption(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    process.stderr.write(`--${name}: ${JSON.stringify(text)} is not a whole number above 0\n`);
    process.exit(2);
  }
  return value;
}
