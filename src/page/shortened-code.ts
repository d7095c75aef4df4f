import { stop, type TransformOptions, transform } from 'esbuild';

/** Takes types, comments and blanks out of a module or a style sheet, and shortens the names inside of a module. */
export type Shorten = (source: string, language: 'ts' | 'js' | 'css') => Promise<string>;

const OPTIONS: TransformOptions = {
  minify: true,
  charset: 'utf8',
  legalComments: 'inline',
  target: 'es2024',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
};

const CSS_OPTIONS: TransformOptions = { minifyWhitespace: true, charset: 'utf8' };

/** How many pages are being read; esbuild is one process beside this one for all of them. */
let readers = 0;

/** Runs `read` with esbuild at hand, whose process ends with the last reader. */
export async function withShortener<T>(read: (shorten: Shorten) => Promise<T>): Promise<T> {
  readers += 1;
  try {
    return await read(async (source, language) => {
      const options = language === 'css' ? CSS_OPTIONS : OPTIONS;
      return (await transform(source, { ...options, loader: language })).code;
    });
  } finally {
    readers -= 1;
    if (readers === 0) await stop();
  }
}
