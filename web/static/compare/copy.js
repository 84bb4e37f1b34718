// A button that copies a text and confirms it.
import { html, useEffect, useState } from '../ui.js';
import { words } from './text.js';

/** @param {{text: string, label: string}} props */
export function Copy({ text, label }) {
  const [said, setSaid] = useState('');
  const w = words();
  useEffect(() => {
    if (!said) return undefined;
    const forget = setTimeout(() => setSaid(''), 2500);
    return () => clearTimeout(forget);
  }, [said]);
  // Without TLS, pages of other machines cannot use the clipboard.
  const copy = () => (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error()))
    .then(() => setSaid(w.copied), () => setSaid(w.notCopied));
  return html`<button type="button" class="quiet" onClick=${copy}>${label}</button> <span class="hint" role="status">${said}</span>`;
}
