// A button that copies a text, and says so as long as the text is the same.
import { t } from './text.js';
import { html, useState } from './ui.js';

/** @param {{text: string, label: string, look?: string}} props */
export function Copy({ text, label, look = 'quiet' }) {
  const [copied, setCopied] = useState(/** @type {string | null} */ (null)); // '': the browser refused
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text); // missing on pages of other machines without TLS
      setCopied(text);
    } catch {
      setCopied('');
    }
  };
  return html`
    <span class="copy"><button type="button" class=${look} onClick=${copy}>${label}</button>
      <span role="status">${copied === text ? t.copied : copied === '' && html`${t.copyYourself} <code>${text}</code>`}</span></span>`;
}
