// The current buyer, and a form to switch. The lab has no authentication: any
// number will do.
import { remember, remembered } from '../preferences.js';
import { keep } from '../records.js';
import { html, useLayoutEffect, useRef, useState } from '../ui.js';
import { words } from './text.js';

/** @param {string} text @returns {number} the user id; 0 if it is none */
const userId = (text) => (/^[0-9]{1,16}$/.test(text.trim()) && Number(text) <= Number.MAX_SAFE_INTEGER ? Number(text) : 0);

const { get, set, use } = keep({ user: userId(remembered('shop.user') ?? '') });
if (get().user === 0) become(100_000 + crypto.getRandomValues(new Uint32Array(1))[0] % 900_000);

export const buyer = () => get().user;

/** Hook: the buyer. */
export const useBuyer = () => use().user;

/** @param {number} user */
function become(user) {
  set({ user });
  remember('shop.user', String(user));
}

/** @param {{user: number}} props */
export function Buyer({ user }) {
  const [open, setOpen] = useState(false);
  const [wrong, setWrong] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const w = words();
  const before = useRef(open);
  useLayoutEffect(() => { // at once: later it would leave what was chosen meanwhile, and take away what was typed
    if (open) input.current.select();
    else if (before.current) button.current.focus();
    before.current = open;
  }, [open]);
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    const id = userId(input.current.value);
    setWrong(id === 0);
    if (id === 0) {
      input.current.focus();
      return;
    }
    become(id);
    setOpen(false);
  };
  return html`
    <section class="panel buyer">
      <p>${w.you} <strong data-user=${user}>${user}</strong></p>
      ${!open && html`<button type="button" class="quiet" ref=${button} onClick=${() => setOpen(true)}>${w.change}</button>`}
      ${open && html`
        <form onSubmit=${submit} noValidate>
          <div class="field">
            <label for="user">${w.userLabel}</label>
            <input id="user" ref=${input} inputmode="numeric" autocomplete="off" defaultValue=${String(user)}
              aria-invalid=${wrong ? 'true' : undefined} aria-describedby="user-hint user-wrong" />
            <p class="hint" id="user-hint">${w.userHint}</p>
            <p class="wrong" id="user-wrong" role="alert">${wrong && w.userWrong}</p>
          </div>
          <button class="offer">${w.keep}</button>
        </form>`}
    </section>`;
}
