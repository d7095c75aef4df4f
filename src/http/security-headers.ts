/**
 * Headers of every answer, whoever wrote its body: a browser takes it for nothing but its Content-Type, and runs and loads nothing that is
 * in it. The page and its documentation replace the policy by their own.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
};
