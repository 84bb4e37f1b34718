// The visitor's preferences: language and theme. They are attributes of
// the document's root, for the stylesheet, and kept in this browser.
import { load, speak } from './text.js';
import { useEffect, useState } from './ui.js';

const root = document.documentElement;
const changed = new EventTarget();

export const preferences = () => ({
  language: /** @type {'en'|'zh'} */ (root.lang.startsWith('zh') ? 'zh' : 'en'),
  theme: root.dataset.theme ?? 'auto',
});

/**
 * A screen's own texts, in the language chosen at the time of the call.
 * @template W
 * @param {W} en @param {unknown} zh with the same keys
 */
export const chosenOf = (en, zh) => () => /** @type {W} */ (preferences().language === 'zh' ? zh : en);

/** The language that the page can change to. */
export const otherLanguage = () => (preferences().language === 'zh' ? 'en' : 'zh');

await speak(preferences().language);
setTimeout(() => load(otherLanguage()).catch(() => {}), 10_000); // so that a page whose lab has ended can change, too

/** @param {'language'|'theme'} name @param {string} value */
export async function prefer(name, value) {
  if (name === 'language') {
    await speak(value);
    root.lang = value === 'zh' ? 'zh-CN' : 'en';
  } else {
    root.dataset[name] = value;
  }
  remember(name, value);
  changed.dispatchEvent(new Event('change'));
}

/**
 * Stores a preference, if the browser has storage.
 * @param {string} name @param {string} value
 */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch { /* it is forgotten at the next visit, and nothing else */ }
}

/** @param {string} name */
export function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/**
 * What was stored as JSON, if that can be read.
 * @template T
 * @param {string} name @param {T} otherwise @returns {T}
 */
export function recalled(name, otherwise) {
  try {
    return JSON.parse(remembered(name) ?? '') ?? otherwise;
  } catch {
    return otherwise;
  }
}

/**
 * Calls look when colours or sizes may have changed; returns a stop function.
 * @param {() => void} look
 */
export function onLookChange(look) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  changed.addEventListener('change', look);
  dark.addEventListener('change', look);
  return () => {
    changed.removeEventListener('change', look);
    dark.removeEventListener('change', look);
  };
}

/** Hook: the preferences. */
export function usePreferences() {
  const [now, setNow] = useState(preferences());
  useEffect(() => onLookChange(() => setNow(preferences())), []);
  return now;
}
