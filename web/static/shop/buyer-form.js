// The current buyer, and a form to switch.
import { html, useLayoutEffect, useRef, useState } from '../ui.js';
import { become, userId } from './buyer.js';
import { words } from './text.js';

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
    setWrong(id === null);
    if (id === null) {
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
