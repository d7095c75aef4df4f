import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface KeptFocus<E extends HTMLElement> {
  readonly list: RefObject<E | null>;
  /** Names the element, by its `data-focus`, that has the focus after the list is drawn in another order. */
  readonly keep: (name: string) => void;
}

/** Keeps the focus within a list that is put in another order: browsers take it from elements that are moved or removed. */
export function useKeptFocus<E extends HTMLElement>(order: readonly string[]): KeptFocus<E> {
  const list = useRef<E>(null);
  const wanted = useRef<string | null>(null);
  useLayoutEffect(() => {
    const name = wanted.current;
    wanted.current = null;
    if (name !== null) list.current?.querySelector<HTMLElement>(`[data-focus="${CSS.escape(name)}"]`)?.focus();
  }, [order.join()]);
  const keep = (name: string): void => {
    wanted.current = name;
  };
  return { list, keep };
}
