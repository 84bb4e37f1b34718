// What the lab's runs and comparisons have in common on the page.
import { useEffect, useState } from './ui.js';

/** @param {{state: string} | null | undefined} record */
export const isOn = (record) => ['preparing', 'running', 'stopping'].includes(record?.state ?? '');

/**
 * The list, newest first, after a change of one that it has or has not.
 * @template {{id: string}} T
 * @param {T[]} all @param {T} now @returns {T[]}
 */
export const taken = (all, now) => (all.some((r) => r.id === now.id) ? all.map((r) => (r.id === now.id ? now : r)) : [now, ...all]);

/**
 * A state that components use, and that is replaced by parts.
 * @template {object} S
 * @param {S} state
 */
export function keep(state) {
  /** @type {Set<(now: S) => void>} */
  const listeners = new Set();
  return {
    get: () => state,
    /** @param {Partial<S>} change */
    set(change) {
      state = Object.assign({}, state, change);
      for (const listener of listeners) listener(state);
    },
    /** The state, in a component. */
    use() {
      const [now, setNow] = useState(state);
      useEffect(() => {
        listeners.add(setNow);
        setNow(state); // it may have changed since the first drawing
        return () => { listeners.delete(setNow); };
      }, []);
      return now;
    },
  };
}
