// What a visitor chose: language, theme, size of type. The document's root
// carries it, for the stylesheet; this browser remembers it.
import { speak } from './text.js';
import { useEffect, useState } from './ui.js';

const root = document.documentElement;
const changed = new EventTarget();

export const preferences = () => ({
  language: /** @type {'en'|'zh'} */ (root.lang.startsWith('zh') ? 'zh' : 'en'),
  theme: root.dataset.theme ?? 'auto',
  type: root.dataset.type ?? 'normal',
});

await speak(preferences().language);

/** @param {'language'|'theme'|'type'} name @param {string} value */
export async function prefer(name, value) {
  if (name === 'language') {
    try {
      await speak(value);
    } catch {
      return; // the lab is away; main.js says so
    }
    root.lang = value === 'zh' ? 'zh-CN' : 'en';
  } else {
    root.dataset[name] = value;
  }
  remember(name, value);
  changed.dispatchEvent(new Event('change'));
}

/**
 * Kept by this browser, if it keeps anything.
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
 * Calls look whenever colours or sizes may have changed; returns how to stop.
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

/** The preferences, in a component. */
export function usePreferences() {
  const [now, setNow] = useState(preferences());
  useEffect(() => {
    const look = () => setNow(preferences());
    changed.addEventListener('change', look);
    return () => changed.removeEventListener('change', look);
  }, []);
  return now;
}
