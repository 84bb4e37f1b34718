// Defend: code with a hole. The player chooses a guard, the explorer attacks it,
// and the schedule that breaks it can be played.
import { call } from '../api.js';
import { highlight } from '../highlight.js';
import { preferences } from '../preferences.js';
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { classes, html, useEffect, useRef, useState } from '../ui.js';
import { Game } from './game.js';
import { defended, holdsOut } from './progress.js';
import { translated } from './say.js';
import { words } from './text.js';

/** @param {Record<string, any>} texts @returns {any} */
const inLanguage = (texts) => texts[preferences().language] ?? texts.en;

const attacks = '/api/lab/v1/attacks';
const pause = 300; // ms between two looks at an attack

/**
 * Hook: the attack under way, or the last one.
 * @param {string} defence
 */
function useAttack(defence) {
  const [attack, setAttack] = useState(/** @type {Json.Attack | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [asked, setAsked] = useState({ choice: '', turn: 0 });
  useEffect(() => {
    if (!asked.choice) return undefined;
    let left = false;
    let id = '';
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let again;
    const end = () => { if (id) call('DELETE', `${attacks}/${id}`, undefined, { keepalive: true }).catch(() => {}); };
    const take = (/** @type {Json.Attack} */ now) => {
      id = now.id;
      if (left) return end();
      setAttack(now);
      if (now.state === 'waits' || now.state === 'searches') again = setTimeout(look, pause);
    };
    const miss = (/** @type {Error} */ wrong) => { if (!left) setError(wrong); };
    const look = () => { call('GET', `${attacks}/${id}`).then(take, miss); };
    setAttack(null);
    setError(null);
    call('POST', attacks, { defence, choice: asked.choice }).then(take, miss);
    return () => {
      left = true;
      clearTimeout(again);
      end();
    };
  }, [asked]);
  return { attack, error, asked: asked.choice, begin: (/** @type {string} */ choice) => setAsked((last) => ({ choice, turn: last.turn + 1 })) };
}

/** @param {{exercise: Json.Defence, next?: Json.Defence, query: Record<string, string>}} props */
export function Defend({ exercise: e, next, query }) {
  const w = words().defend;
  const { title, goal, hint } = inLanguage(e.text);
  const choice = query.guard === 'hole' || e.choices.some((c) => c.name === query.guard) ? query.guard : '';
  const { attack, error, asked, begin } = useAttack(e.name);
  const place = (/** @type {Record<string, any>} */ more) => stay('play', '', { defend: e.name, guard: choice, ...more });
  const on = asked && !error && (!attack || attack.state === 'waits' || attack.state === 'searches');
  const go = (/** @type {string} */ name) => {
    if (on) return;
    place({ guard: name, line: '', s: '' });
    begin(name);
  };
  useEffect(() => {
    if (attack?.state === 'held') holdsOut(e.name);
    if (attack?.state === 'broken') place({ guard: attack.choice, line: attack.schedule, s: '' });
  }, [attack?.state]);
  const of = attack?.choice === choice ? attack : null;
  return html`
    <div class="play defend">
      <header class="task">
        <p><a href=${link('play')}>${words().all}</a></p>
        <h1><span class="hint">${w.number(e.number)}</span> ${title}</h1>
        <p class="goal">${goal}</p>
        <p class="hint">${words().setting(e.setting.buyers.length, e.setting.stock, e.setting.faults.length ? e.setting.max_faults : 0)} · ${w.mustHold} ${t.list(e.breaks.map((rule) => t.rules[rule] ?? rule))}</p>
        <details class="play-hint"><summary>${words().hint}</summary><p>${hint}</p></details>
      </header>
      <section class="panel" aria-labelledby="code-title">
        <h2 id="code-title">${w.code}</h2>
        <${Code} lines=${e.code.map((text) => ({ mark: /** @type {''} */ (''), text }))} />
        <p><button type="button" class="quiet" data-do="attack-hole" aria-disabled=${on ? 'true' : undefined} onClick=${() => go('hole')}>${w.attackHole}</button></p>
      </section>
      <form class="panel guards" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); if (choice && choice !== 'hole') go(choice); }}>
        <fieldset><legend><h2>${w.choose}</h2></legend>
          ${e.choices.map((c) => html`
            <div key=${c.name} class=${classes('guard', c.name === choice && 'chosen')} data-guard=${c.name}>
              <label><input type="radio" name="guard" value=${c.name} checked=${c.name === choice} onChange=${() => place({ guard: c.name, line: '', s: '' })} /> ${inLanguage(c.label)}</label>
              <${Code} lines=${around(c.lines)} />
            </div>`)}
        </fieldset>
        <p><button type="submit" class="run" aria-disabled=${!choice || choice === 'hole' || on ? 'true' : undefined}>${w.attack}</button></p>
      </form>
      <${Outcome} attack=${of} on=${Boolean(on)} error=${error} next=${next} />
      ${choice && query.line && html`<${Game} key=${`${e.name} ${choice} ${query.line}`} query=${query} />`}
    </div>`;
}

const near = 1; // lines that are shown around a change

/**
 * The lines that differ, and those next to them; null stands for what is left out.
 * @param {Json.CodeLine[]} lines @returns {(Json.CodeLine | null)[]}
 */
function around(lines) {
  const wanted = lines.map((_, i) => lines.slice(Math.max(0, i - near), i + near + 1).some((l) => l.mark));
  return lines.flatMap((l, i) => (wanted[i] ? [l] : i === 0 || wanted[i - 1] ? [null] : []));
}

/** @param {{lines: (Json.CodeLine | null)[]}} props */
function Code({ lines }) {
  return html`<pre class="guard-code" translate="no" tabindex="0"><code>${lines.map((l, i) => {
    if (!l) return html`<span key=${i} class="line gap">⋯</span>`;
    const text = highlight(l.text || ' ', 'go');
    if (l.mark === '+') return html`<ins key=${i} class="line">${text}</ins>`;
    return l.mark === '-' ? html`<del key=${i} class="line">${text}</del>` : html`<span key=${i} class="line">${text}</span>`;
  })}</code></pre>`;
}

/**
 * What the explorer does, and what came of it.
 * @param {{attack: Json.Attack | null, on: boolean, error: Error | null, exercise: Json.Defence, next?: Json.Defence}} props
 */
function Outcome({ attack: a, on, error, next }) {
  const w = words().defend;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { if (a || error) box.current?.scrollIntoView({ block: 'nearest' }); }, [a?.state, error]);
  return html`
    <section ref=${box} class="play-ending" role="status">
      ${error && html`<p class="panel wrong">${error.message}</p>`}
      ${on && html`<p class="panel" data-attack="on">${a?.state === 'searches' ? w.searches(a.schedules) : w.waits}</p>`}
      ${a?.state === 'failed' && html`<p class="panel wrong" data-attack="failed">${w.failed}</p>`}
      ${a?.state === 'undecided' && html`<div class="banner" data-attack="undecided"><h2>${w.undecided}</h2><p>${w.partly(a)}</p></div>`}
      ${a?.state === 'held' && html`<div class="banner held" data-attack="held"><h2>✓ ${w.held}</h2>
        <p>${w.tried(a)}</p><p>${a.why && inLanguage(a.why)}</p>
        ${next && html`<p><a class="offer" href=${link('play', '', { defend: next.name })}>${w.next(inLanguage(next.text).title)}</a></p>`}</div>`}
      ${a?.state === 'broken' && html`<div class="banner oversold" data-attack="broken"><h2>${w.broken(t.list(a.rules.map((rule) => t.rules[rule] ?? rule)))}</h2>
        <p>${w.found(a.schedules, a.moves ?? 0, a.switches ?? 0)}</p><p>${a.why && inLanguage(a.why)}</p><p>${w.play}</p></div>`}
    </section>`;
}

/**
 * The exercises of the list.
 * @param {{exercises: Json.Defence[]}} props
 */
export function Exercises({ exercises }) {
  const w = words().defend;
  const kept = defended();
  if (!exercises.length) return null;
  return html`
    <section class="levels" aria-labelledby="defend-title">
      <h2 id="defend-title">${w.title}</h2>
      <p class="hint" data-defended=${exercises.filter((e) => e.name in kept).length}>${w.what}</p>
      <ol class="exercises">${exercises.map((e) => {
    const { title, goal } = inLanguage(e.text);
    const inside = html`<span class="level-name"><span class="n">${e.number}</span> <b>${title}</b>${e.name in kept && html`<span class="tick" role="img" aria-label=${w.done} title=${w.done}>✓</span>`}</span><span class="goal">${goal}</span>`;
    return html`<li key=${e.name} class=${classes('level', e.name in kept && 'solved')} data-defence=${e.name}>
        ${e.available ? html`<a class="panel" href=${link('play', '', { defend: e.name })}>${inside}</a>`
    : html`<div class="panel missing">${inside}<span class="hint">${t.form.unavailable}: ${(e.missing ?? []).map((why) => translated(t.reason(why)).said).join('; ')}</span></div>`}</li>`;
  })}</ol>
    </section>`;
}
