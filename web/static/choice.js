// Which strategies take part: by name, by family, all or none.
import { say } from './blame.js';
import { noStrategies } from './lab.js';
import { link } from './route.js';
import { isOfSix, sixFirst, titleOf } from './strategies.js';
import { t } from './text.js';
import { classes, html, styled, useState } from './ui.js';

await styled('choice.css');

/**
 * most: how many may be chosen; without it, all. topology: of the lab.
 * @param {{strategies: Json.Strategy[], chosen: string[], most?: number, topology: string, blame?: Json.Blame, choose: (names: string[]) => void}} props
 */
export function Choice({ strategies, chosen, most, topology, blame, choose }) {
  const [wanted, setWanted] = useState('');
  const w = t.choice;
  const here = strategies.filter((s) => s.available);
  const found = sixFirst(strategies.filter((s) => matches(s, wanted)));
  const families = [...new Set(found.map(groupOf))];
  /** Adds or removes names, and keeps the lab's order. */
  const set = (/** @type {string[]} */ names, /** @type {boolean} */ yes) => choose(strategies.map((s) => s.name)
    .filter((name) => (names.includes(name) ? yes : chosen.includes(name)))
    .concat(yes ? [] : chosen.filter((name) => !names.includes(name) && !strategies.some((s) => s.name === name))));
  return html`
    <fieldset class="choice" id="strategies" tabindex="-1" aria-invalid=${blame ? 'true' : undefined} aria-describedby="strategies-wrong">
      <legend>${w.strategies} <span class="hint">${most ? w.upTo(most) : w.chosen(chosen.length, strategies.length)}</span></legend>
      ${most && chosen.length > 0 && html`<p class="chosen">${chosen.map((name) => html`<a key=${name} href=${link('lessons', name)}>${name}</a> `)}</p>`}
      <div class="search">
        <label class="hidden" for="wanted">${w.search}</label>
        <input id="wanted" type="search" placeholder=${w.search} value=${wanted} autocomplete="off" spellcheck=${false}
          onInput=${(e) => setWanted(e.currentTarget.value)} onKeyDown=${(e) => e.key === 'Enter' && e.preventDefault()} />
        ${!most && html`<button type="button" class="quiet" onClick=${() => choose(here.map((s) => s.name))}>${w.all}</button>`}
        <button type="button" class="quiet" onClick=${() => choose([])}>${w.none}</button>
      </div>
      <div class="boxes">
        ${families.map((family) => {
    const members = found.filter((s) => groupOf(s) === family);
    return html`
          <${Family} key=${family} name=${t.families[family] ?? family} members=${members} chosen=${chosen} most=${most} topology=${topology} set=${set} />`;
  })}
        ${found.length === 0 && html`<p class="hint" role="status">${strategies.length ? w.notFound(wanted) : noStrategies()}</p>`}
      </div>
      ${strategies.length > 0 && chosen.some((name) => !strategies.some((s) => s.name === name)) && html`
        <p class="hint">${w.foreign(chosen.filter((name) => !strategies.some((s) => s.name === name)).join(', '))}
          ${' '}<button type="button" class="link" onClick=${() => choose(chosen.filter((name) => strategies.some((s) => s.name === name)))}>${w.dropThem}</button></p>`}
      <p class="hint"><a href=${link('choose')}>${w.which}</a></p>
      <p id="strategies-wrong" class=${classes('wrong', !blame && 'none')}>${say(blame)}</p>
    </fieldset>`;
}

/** @param {Json.Strategy} s */
const groupOf = (s) => (isOfSix(s) ? 'six' : s.family);

/** @param {Json.Strategy} s @param {string} wanted */
function matches(s, wanted) {
  const text = [s.name, s.title, ...Object.values(s.titles ?? {}), ...(s.other_names ?? []), t.families[s.family] ?? s.family].join(' ').toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** @param {{name: string, members: Json.Strategy[], chosen: string[], most?: number, topology: string, set: (names: string[], yes: boolean) => void}} props */
function Family({ name, members, chosen, most, topology, set }) {
  const able = members.filter((s) => s.available);
  const on = able.filter((s) => chosen.includes(s.name)).length;
  return html`
    <div class="family" role="group" aria-label=${name}>
      ${most ? html`<p class="whole">${name}</p>` : html`
        <label class="whole"><input type="checkbox" checked=${on > 0 && on === able.length} indeterminate=${on > 0 && on < able.length}
          disabled=${!able.length} onChange=${() => set(able.map((s) => s.name), on < able.length)} />${name}</label>`}
      <ul>
        ${members.map((s) => html`
          <li key=${s.name}>
            <label><input type="checkbox" value=${s.name} checked=${chosen.includes(s.name)}
              disabled=${!chosen.includes(s.name) && (!s.available || (most && chosen.length >= most))} onChange=${(e) => set([s.name], e.currentTarget.checked)} /><span><code>${s.name}</code> <span class="hint">${titleOf(s)}</span></span></label>
            ${s.broken && html` <span class="badge bad" title=${t.form.broken}>${t.choice.broken}</span>`}
            ${s.unfit_on?.includes(topology) && html`<span class="hint">${t.form.unfit[topology]}</span>`}
            ${!s.available && html`<span class="hint">${t.form.unavailable}${t.colon}${s.missing.map(t.reason).join(t.semicolon)}</span>`}
          </li>`)}
      </ul>
    </div>`;
}
