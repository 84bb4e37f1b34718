// The reader's progress, kept in this browser.
import { remember, remembered } from '../preferences.js';

/** @returns {Set<string>} names of chapters read to the end */
export function chaptersRead() {
  try {
    const names = JSON.parse(remembered('lessons-read') ?? '[]');
    return new Set(Array.isArray(names) ? names.filter((n) => typeof n === 'string') : []);
  } catch {
    return new Set();
  }
}

/** @param {string} name */
export function finish(name) {
  remember('lessons-read', JSON.stringify([...chaptersRead().add(name)]));
}

export const lastOpened = () => remembered('lessons-last');

/** @param {string} name */
export const opened = (name) => remember('lessons-last', name);
