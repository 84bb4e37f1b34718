// The link to a game as it stands: level and schedule are its address.
import { html, useEffect, useState } from '../ui.js';
import { words } from './text.js';

export function Share() {
  const [said, setSaid] = useState(/** @type {''|'copied'|'not'} */ (''));
  const [address, setAddress] = useState('');
  const w = words();
  useEffect(() => {
    if (said !== 'copied') return undefined;
    const forget = setTimeout(() => setSaid(''), 4000);
    return () => clearTimeout(forget);
  }, [said]);
  const copy = () => {
    setAddress(location.href);
    // Without TLS, pages of other machines cannot use the clipboard.
    return (navigator.clipboard ? navigator.clipboard.writeText(location.href) : Promise.reject(new Error())).then(() => setSaid('copied'), () => setSaid('not'));
  };
  return html`
    <button type="button" class="quiet" data-do="share" onClick=${copy}>${w.share}</button>
    <span class="shared hint" role="status">${said === 'copied' ? w.copied : said && html`${w.copyYourself} <code>${address}</code>`}</span>`;
}
