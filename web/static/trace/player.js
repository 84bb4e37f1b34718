// Plays a trace forwards and backwards. Position n is after n steps.
import { Chosen, onLanes, Step, LaneHeads } from './lanes.js';
import { model } from './model.js';
import { Picture } from './picture.js';
import { Ending, State } from './state.js';
import { words } from './text.js';
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../ui.js';

const pace = 1100; // ms per step

const icons = {
  toStart: 'M4 5v14M13 5l-6 7 6 7zM21 5l-6 7 6 7z', back: 'M6 5v14M18 5l-9 7 9 7z', forth: 'M18 5v14M6 5l9 7-9 7z', toEnd: 'M20 5v14M11 5l6 7-6 7zM3 5l6 7-6 7z',
  play: 'M7 4l13 8-13 8z', pause: 'M7 5h3v14h-3zM14 5h3v14h-3z',
};

/** @param {{name: keyof typeof icons}} props */
const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${icons[name]} /></svg>`;

/**
 * view: "" for the list of steps.
 * @param {{trace: import('./model.js').Trace, at: number, view: ''|'diagram', move: (n: number) => void, look: (view: string) => void}} props
 */
export function Player({ trace, at, view, move, look }) {
  const m = useMemo(() => model(trace), [trace]);
  const last = trace.steps.length;
  const now = Math.min(Math.max(at, 0), last);
  const [playing, setPlaying] = useState(false);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const place = useRef(now); // keys may come faster than redraws
  place.current = now;
  const to = (/** @type {number} */ n) => {
    place.current = Math.min(Math.max(n, 0), last);
    move(place.current);
  };

  useEffect(() => {
    if (!playing) return undefined;
    if (now === last) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => to(now + 1), pace);
    return () => clearTimeout(timer);
  }, [playing, now]);

  useLayoutEffect(() => { // keys count as soon as the steps are seen
    const pressed = (/** @type {KeyboardEvent} */ e) => {
      const at = e.target instanceof Element ? e.target : null;
      const typing = at?.closest('input, select, textarea, dialog, pre');
      if (typing || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
      const inList = list.current?.contains(at);
      const steps = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1, ...(inList && { ArrowDown: 1, ArrowUp: -1 }) });
      const step = steps[e.key];
      if (step) to(place.current + step);
      else if (e.key === 'Home' && inList) to(0);
      else if (e.key === 'End' && inList) to(last);
      else return;
      e.preventDefault();
      setPlaying(false);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [last, move]);

  // Keep the current step in view, and the focus on it during keyboard use.
  useEffect(() => {
    const shown = /** @type {HTMLElement | null} */ (list.current?.querySelector('[aria-current], rect.d-current'));
    const item = shown?.closest('li, rect');
    const controls = document.querySelector('.controls');
    if (!shown || !item || !controls) return;
    if (list.current.contains(document.activeElement)) shown.focus({ preventScroll: true });
    const bar = controls.getBoundingClientRect().bottom;
    const place = item.getBoundingClientRect();
    if (place.top < bar) scrollBy(0, place.top - bar - 8);
    else if (place.bottom > innerHeight) scrollBy(0, place.bottom - innerHeight + 8);
  }, [now, view]);

  const p = words();
  const button = (/** @type {'toStart'|'back'|'forth'|'toEnd'} */ name, /** @type {number} */ n, /** @type {boolean} */ disabled) => html`
    <button type="button" class="quiet" aria-label=${p[name]} title=${p[name]} aria-disabled=${disabled ? 'true' : undefined}
      onClick=${() => { setPlaying(false); to(n); }}><${Icon} name=${name} /></button>`;
  return html`
    <div class="controls panel">
      ${button('toStart', 0, now === 0)}${button('back', now - 1, now === 0)}
      <button type="button" class="quiet play" aria-pressed=${String(playing)} aria-label=${playing ? p.pause : p.play} title=${playing ? p.pause : p.play}
        onClick=${() => { if (!playing && now === last) to(0); setPlaying(!playing); }}><${Icon} name=${playing ? 'pause' : 'play'} /></button>
      ${button('forth', now + 1, now === last)}${button('toEnd', last, now === last)}
      <input type="range" min="0" max=${last} value=${now} aria-label=${p.position} aria-valuetext=${p.at(now, last)}
        onInput=${(e) => { setPlaying(false); to(Number(e.currentTarget.value)); }} />
      <span class="where" role="status">${p.at(now, last)}</span>
      <span class="views" role="group" aria-label=${p.view}>
        ${/** @type {const} */ (['', 'diagram']).map((one) => html`<button key=${one} type="button" class="quiet" data-view=${one || 'steps'} aria-pressed=${String(view === one)} onClick=${() => look(one)}>${one ? p.diagram : p.steps}</button>`)}</span>
    </div>
    <div class="trace">
      ${view ? html`<div class="panel drawn" ref=${list}><${Picture} trace=${trace} current=${now} choose=${(n) => { setPlaying(false); to(n); }} />
        <p class="hint">${p.diagramHint}</p></div>` : html`<div class="steps panel" ref=${list} ...${onLanes(m)}>
        <${LaneHeads} model=${m} buyers=${trace.buyers} />
        <ol>
          ${trace.steps.map((s, i) => html`
            <${Step} key=${i} step=${s} index=${i} model=${m} total=${trace.took} current=${i === now - 1} past=${i < now}
              choose=${() => { setPlaying(false); to(i + 1); }} />`)}
        </ol>
        <${Key} model=${m} steps=${trace.steps} />
      </div>`}
      <div class="aside">
        ${view && now > 0 && html`<${Chosen} step=${trace.steps[now - 1]} number=${now} />`}
        <${State} trace=${trace} model=${m} now=${now} />
        ${now === last && html`<${Ending} trace=${trace} />`}
      </div>
    </div>`;
}

/** @param {{model: import('./model.js').Model, steps: import('./model.js').Step[]}} props */
const Key = ({ model: m, steps }) => html`
  <ul class="hint bars-key">
    ${['held', 'stale', 'key', 'row', 'flight'].filter((kind) => m.bars.some((b) => b.kind === kind)).map((kind) => html`
      <li key=${kind}><span class=${`bar-sample ${kind}`}></span> ${words().bars[kind]}</li>`)}
    ${steps.some((s) => s.background) && html`<li><span class="dot renewer">↻</span> ${words().renewerHint}</li>`}
  </ul>`;
