// The keys of a screen.
import { useLayoutEffect, useRef } from './ui.js';

/**
 * Hook: what a key does on this screen, unless somebody types or scrolls with it. does
 * names it, if there is something.
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
