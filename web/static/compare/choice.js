// Which strategies take part: by name, by family, all or none.
import { say } from '../blame.js';
import { preferences } from '../preferences.js';
import { t } from '../text.js';
import { classes, html, useState } from '../ui.js';
import { words } from './text.js';

/** @param {{strategies: Json.Strategy[], chosen: string[], blame?: Json.Blame, choose: (names: string[]) => void}} props */
export function Choice({ strategies, chosen, blame, choose }) {
  const [wanted, setWanted] = useState('');
  const w = words();
  const here = strategies.filter((s) => s.available);
  const found = strategies.filter((s) => matches(s, wanted));
  const families = [...new Set(strategies.map((s) => s.family))];
  /** Adds or removes names, and keeps the lab's order. */
  const set = (/** @type {string[]} */ names, /** @type {boolean} */ yes) => choose(strategies.map((s) => s.name)
    .filter((name) => (names.includes(name) ? yes : chosen.includes(name)))
    .concat(yes ? [] : chosen.filter((name) => !names.includes(name) && !strategies.some((s) => s.name === name))));
  return html`
    <fieldset class="choice" id="strategies" tabindex="-1" aria-invalid=${blame ? 'true' : undefined} aria-describedby="strategies-wrong">
      <legend>${w.strategies} <span class="hint">${w.chosen(chosen.length, strategies.length)}</span></legend>
      <div class="search">
        <label class="hidden" for="wanted">${w.search}</label>
        <input id="wanted" type="search" placeholder=${w.search} value=${wanted} autocomplete="off" spellcheck=${false}
          onInput=${(e) => setWanted(e.currentTarget.value)} onKeyDown=${(e) => e.key === 'Enter' && e.preventDefault()} />
        <button type="button" class="quiet" onClick=${() => choose(here.map((s) => s.name))}>${w.all}</button>
        <button type="button" class="quiet" onClick=${() => choose([])}>${w.none}</button>
      </div>
      <div class="boxes">
        ${families.map((family) => {
    const members = found.filter((s) => s.family === family);
    return members.length > 0 && html`
          <${Family} key=${family} name=${t.families[family] ?? family} members=${members} chosen=${chosen} set=${set} />`;
  })}
        ${found.length === 0 && html`<p class="hint" role="status">${strategies.length ? w.notFound(wanted) : t.form.noStrategies}</p>`}
      </div>
      ${chosen.some((name) => !strategies.some((s) => s.name === name)) && html`
        <p class="hint">${w.foreign(chosen.filter((name) => !strategies.some((s) => s.name === name)).join(', '))}
          ${' '}<button type="button" class="link" onClick=${() => choose(chosen.filter((name) => strategies.some((s) => s.name === name)))}>${w.dropThem}</button></p>`}
      <p id="strategies-wrong" class=${classes('wrong', !blame && 'none')}>${say(blame)}</p>
    </fieldset>`;
}

/** @param {Json.Strategy} s */
const titleOf = (s) => s.titles?.[preferences().language] ?? s.title;

/** @param {Json.Strategy} s @param {string} wanted */
function matches(s, wanted) {
  const text = [s.name, s.title, ...Object.values(s.titles ?? {}), t.families[s.family] ?? s.family].join(' ').toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** @param {{name: string, members: Json.Strategy[], chosen: string[], set: (names: string[], yes: boolean) => void}} props */
function Family({ name, members, chosen, set }) {
  const w = words();
  const able = members.filter((s) => s.available);
  const on = able.filter((s) => chosen.includes(s.name)).length;
  return html`
    <div class="family" role="group" aria-label=${name}>
      <label class="whole"><input type="checkbox" checked=${on > 0 && on === able.length} indeterminate=${on > 0 && on < able.length}
        disabled=${!able.length} onChange=${() => set(able.map((s) => s.name), on < able.length)} />${name}</label>
      <ul>
        ${members.map((s) => html`
          <li key=${s.name}>
            <label title=${titleOf(s)}><input type="checkbox" value=${s.name} checked=${chosen.includes(s.name)}
              disabled=${!s.available && !chosen.includes(s.name)} onChange=${(e) => set([s.name], e.currentTarget.checked)} /><code>${s.name}</code></label>
            ${s.broken && html` <span class="badge bad" title=${t.form.broken}>${w.broken}</span>`}
            ${!s.available && html` <span class="badge" title=${s.missing.map(t.reason).join('; ')}>${t.form.unavailable}</span>`}
          </li>`)}
      </ul>
    </div>`;
}
