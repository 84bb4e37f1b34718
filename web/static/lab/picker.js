// Chooses strategies with a search box and a list, by mouse or keyboard. The
// focus stays in the box; aria-activedescendant names the active option.
import { say } from '../blame.js';
import { link } from '../route.js';
import { languages, learn, t } from '../text.js';
import { classes, html, useEffect, useMemo, useRef, useState } from '../ui.js';
import { SignHeads, Signs, heldBy, useMatrix } from './signs.js';

const titleIn = (strategy) => strategy?.titles?.[t.code] ?? strategy?.title ?? '';

/** The searchable text of a strategy, in all languages. */
const words = (s, matrix, dictionaries) => [
  s.name, s.title, ...Object.values(s.titles ?? {}), ...dictionaries.map((d) => d.families[s.family] ?? s.family),
  ...(s.broken ? dictionaries.map((d) => d.form.broken) : []), ...heldBy(s, matrix, dictionaries),
].join('\n').toLowerCase();

/**
 * Whether a word of the text begins so: "red" is in redis-lua, and not in unhindered.
 * Chinese is written without gaps, so it is found anywhere.
 * @param {string} text @param {string} asked
 */
const begins = (text, asked) => (/[a-z0-9]/.test(asked[0]) ? new RegExp(`(?<![a-z0-9])${asked.replace(/[^\w]/g, '\\$&')}`).test(text) : text.includes(asked));

/**
 * The strategies that match all words: families with a match by name first, and in
 * each the names.
 * @param {Json.Strategy[]} strategies @param {string[]} asked @param {(s: Json.Strategy) => string} textOf
 */
function search(strategies, asked, textOf) {
  const found = strategies.filter((s) => asked.every((word) => begins(textOf(s), word)));
  const rank = (/** @type {Json.Strategy} */ s) => (asked.every((word) => begins(s.name, word)) ? 0 : 1);
  const order = [...new Set(found.map((s) => s.family))];
  const first = (/** @type {string} */ family) => Math.min(...found.filter((s) => s.family === family).map(rank));
  return found.sort((a, b) => first(a.family) - first(b.family) || order.indexOf(a.family) - order.indexOf(b.family) || rank(a) - rank(b));
}

/** @param {{strategies: Json.Strategy[], chosen: string[], most: number, blame?: Json.Blame, answering: boolean, topology: string, onChange: (names: string[]) => void}} props */
export function StrategyPicker({ strategies, chosen, most, blame, onChange, answering, topology }) {
  const [open, setOpen] = useState(false);
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(-1);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const matrix = useMatrix(open);
  const [dictionaries, setDictionaries] = useState([t]);
  useEffect(() => { if (open) Promise.all(languages.map(learn)).then(setDictionaries, () => { /* one language is enough */ }); }, [open]);
  const found = useMemo(() => search(strategies, query.toLowerCase().split(/\s+/).filter(Boolean), (s) => words(s, matrix, dictionaries)), [strategies, query, matrix, dictionaries]);
  const at = Math.min(active, found.length - 1);
  const p = t.picker;

  useEffect(() => {
    if (open) root.current.querySelector('.option.active')?.scrollIntoView({ block: 'nearest' });
  }, [open, at]);

  const show = () => setOpen(true);
  const close = () => { setOpen(false); setActive(-1); setQuery(''); };
  const takes = (s) => chosen.includes(s.name) || (s.available && chosen.length < most);
  const toggle = (s) => {
    if (!takes(s)) return;
    onChange(chosen.includes(s.name) ? chosen.filter((name) => name !== s.name) : [...chosen, s.name]);
    setQuery('');
    setActive(strategies.indexOf(s));
    if (!chosen.includes(s.name) && chosen.length + 1 === most) close(); // it covers the Run button
  };
  const move = (to) => { show(); setActive(Math.max(0, Math.min(found.length - 1, to))); };
  const keys = {
    ArrowDown: () => move(open ? at + 1 : 0), ArrowUp: () => move(at < 0 ? found.length - 1 : at - 1),
    PageDown: () => open && move(at + 8), PageUp: () => open && move(at - 8),
    Enter: () => (open && at >= 0 ? toggle(found[at]) : false),
    Escape: () => (open ? close() : false),
    Backspace: () => (query === '' && chosen.length ? onChange(chosen.slice(0, -1)) : false),
  };
  const press = (e) => {
    if (keys[e.key] && keys[e.key](e) !== false) e.preventDefault();
  };

  return html`
    <div class="field picker" ref=${root} onFocusOut=${(e) => root.current.contains(e.relatedTarget) || close()}>
      <label for="strategies">${p.label}</label>
      <${Chosen} names=${chosen} strategies=${strategies} topology=${topology} remove=${(name) => onChange(chosen.filter((n) => n !== name))} />
      <input id="strategies" role="combobox" aria-autocomplete="list" aria-expanded=${String(open)} aria-controls=${open ? 'strategy-list' : undefined}
        aria-activedescendant=${open && at >= 0 ? `option-${found[at].name}` : undefined} autocomplete="off" spellcheck=${false}
        placeholder=${p.search} value=${query} aria-invalid=${blame ? 'true' : undefined} aria-describedby="strategies-hint strategies-wrong"
        onInput=${(e) => { setQuery(e.currentTarget.value); setActive(e.currentTarget.value ? 0 : -1); show(); }}
        onClick=${show} onKeyDown=${press} />
      ${open && html`
        <div class="panel options" onMouseDown=${(e) => e.preventDefault() /* the focus stays in the box */}>
          <div class="options-head"><span role="status">${p.found(found.length, strategies.length)}</span><${SignHeads} matrix=${matrix} /></div>
          <${Options} found=${found} chosen=${chosen} active=${found[at]} matrix=${matrix} takes=${takes} toggle=${toggle} most=${most} topology=${topology} />
        </div>`}
      <p id="strategies-hint" class="hint">${!strategies.length && answering ? t.form.noStrategies : p.hint(most)} <a href=${link('choose')}>${t.nav.doors.which}</a></p>
      <p id="strategies-wrong" class=${classes('wrong', !blame && 'none')}>${say(blame)}</p>
    </div>`;
}

/** It runs on this topology, and is not right. */
const Unfit = ({ strategy, topology }) => strategy?.unfit_on?.includes(topology) && html`<span class="why"> ${t.form.unfit[topology]}</span>`;

const Chosen = ({ names, strategies, topology, remove }) => names.length > 0 && html`
  <ul class="chosen" aria-label=${t.picker.chosen}>
    ${names.map((name) => {
    const s = strategies.find((one) => one.name === name);
    return html`
      <li key=${name}>
        <a href=${link('lessons', name)} title=${t.picker.read(name)}>${name}</a>
        ${s?.broken && html`<span class="badge bad">${t.form.broken}</span>`}
        <button type="button" class="remove" aria-label=${t.picker.remove(name)} onClick=${() => remove(name)}>
          <svg class="sign" viewBox="0 0 24 24" aria-hidden="true"><path d="M6 6l12 12M18 6L6 18" /></svg></button>
        <span class="title">${titleIn(s)}</span>
        <${Unfit} strategy=${s} topology=${topology} />
      </li>`;
  })}
  </ul>`;

function Options({ found, chosen, active, matrix, takes, toggle, most, topology }) {
  const families = [...new Set(found.map((s) => s.family))];
  return html`
    <div id="strategy-list" role="listbox" aria-multiselectable="true" aria-label=${t.picker.label} tabindex="-1">
      ${families.map((family) => html`
        <div key=${family} role="group" aria-labelledby=${`family-${family}`}>
          <div id=${`family-${family}`} class="family" role="presentation">${t.families[family] ?? family}</div>
          ${found.filter((s) => s.family === family).map((s) => html`
            <div key=${s.name} id=${`option-${s.name}`} role="option" class=${classes('option', s === active && 'active')}
              aria-selected=${String(chosen.includes(s.name))} aria-disabled=${takes(s) ? undefined : 'true'} onClick=${() => toggle(s)}>
              <span class="tick" aria-hidden="true">${chosen.includes(s.name) ? '✓' : ''}</span>
              <span class="about"><code>${s.name}</code> ${s.broken && html`<span class="badge bad">${t.form.broken}</span>`}
                <span class="title">${titleIn(s)}</span>
                ${!s.available && html`<span class="why"> ${t.form.unavailable}: ${s.missing.map(t.reason).join('; ')}</span>`}
                <${Unfit} strategy=${s} topology=${topology} />
                ${s.available && !takes(s) && html`<span class="why hidden"> ${t.blamed.too_many({ max: most })}</span>`}</span>
              <${Signs} strategy=${s} matrix=${matrix} />
            </div>`)}
        </div>`)}
    </div>`;
}
