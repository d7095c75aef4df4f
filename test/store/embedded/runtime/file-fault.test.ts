import { expect, test } from 'vitest';
import { firstError, isFaultOfFile } from '../../../../store/embedded/runtime/file-fault.ts';

const systemError = (code: string) => Object.assign(new Error(`${code}: read`), { code, syscall: 'read' });

/** What is thrown where work and the closing of its file fail. */
async function thrownBy(work: Error, closing: Error): Promise<unknown> {
  const run = async (): Promise<void> => {
    await using _file = { [Symbol.asyncDispose]: () => Promise.reject(closing) };
    throw work;
  };
  return await run().catch((error) => error);
}

test('of a file whose closing fails, too, the first error is told, and says whose fault it is', async () => {
  for (const [code, isOfFile] of [
    ['EIO', true],
    ['ENOENT', true],
    ['EMFILE', false],
    ['ENOSPC', false],
  ] as const) {
    const [work, closing] = [systemError(code), systemError('EBADF')];
    const thrown = await thrownBy(work, closing);
    expect(thrown).toBeInstanceOf(SuppressedError);
    expect(firstError(thrown)).toBe(work);
    expect([isFaultOfFile(work), isFaultOfFile(thrown)]).toEqual([isOfFile, isOfFile]);
  }
});
