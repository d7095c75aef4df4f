const LARGEST = 4_294_967_295;

/** The digits if they are an AS number, which has 32 bits; undefined for anything longer, which many readers would cut or round. */
export function asNumber(digits: string): string | undefined {
  return /^(?:0|[1-9][0-9]{0,9})$/.test(digits) && Number(digits) <= LARGEST ? digits : undefined;
}
