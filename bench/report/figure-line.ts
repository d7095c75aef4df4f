const MIB = 1024 * 1024;

/** A figure under its name, aligned with the others. */
export function line(name: string, value: string): string {
  return `${name.padEnd(58)} ${value}`;
}

export const count = (value: number) => Math.round(value).toLocaleString('en-US');
export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
/** Of bytes. */
export const mib = (value: number) => `${count(value / MIB)} MiB`;
