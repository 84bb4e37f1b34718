// The keys of a screen.
import { useLayoutEffect, useRef } from './ui.js';

/**
 * Hook: keyboard shortcuts of this screen. A field or a list that has the focus keeps its keys.
 * does returns what a key does here, if anything.
 * @param {(e: KeyboardEvent, on: Element | null) => (() => void) | undefined} does
 */
export function useKeys(does) {
  const now = useRef(does);
  now.current = does;
  useLayoutEffect(() => { // keys count as soon as what they act on is seen
    const pressed = (/** @type {KeyboardEvent} */ e) => {
      const on = e.target instanceof Element ? e.target : null;
      if (e.altKey || e.ctrlKey || e.metaKey || on?.closest('input, select, textarea, dialog, pre:not(.slide pre)')) return;
      const act = now.current(e, on);
      if (!act) return;
      act();
      e.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}
