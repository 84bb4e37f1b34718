// Plays a trace forwards and backwards. Position n is after n steps.
import { Chosen } from './chosen.js';
import { Guess, seenOf } from './guess.js';
import { model } from './model.js';
import { Picture } from './picture.js';
import { Ending, State } from './state.js';
import { useKeys } from '../keys.js';
import { words } from './text.js';
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../ui.js';

const pace = 1100; // ms per step
const speeds = [0.5, 1, 2, 4];

const icons = {
  toStart: 'M4 5v14M13 5l-6 7 6 7zM21 5l-6 7 6 7z', back: 'M6 5v14M18 5l-9 7 9 7z', forth: 'M18 5v14M6 5l9 7-9 7z', toEnd: 'M20 5v14M11 5l6 7-6 7zM3 5l6 7-6 7z',
  play: 'M7 4l13 8-13 8z', pause: 'M7 5h3v14h-3zM14 5h3v14h-3z',
};

/** @param {{name: keyof typeof icons}} props */
const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${icons[name]} /></svg>`;

/**
 * guesses: what comes next is hidden until it was guessed; the address may say so.
 * @param {{trace: import('./model.js').Trace, at: number, move: (n: number) => void, guesses?: boolean, setGuesses?: (on: boolean) => void}} props
 */
export function Player({ trace, at, move, guesses = false, setGuesses }) {
  const m = useMemo(() => model(trace), [trace]);
  const last = trace.steps.length;
  const now = Math.min(Math.max(at, 0), last);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const hides = guesses && now < last;
  const seen = useMemo(() => (hides ? seenOf(trace, now) : trace), [trace, hides, now]);
  const drawn = useRef(/** @type {HTMLElement | null} */ (null));
  const place = useRef(now); // keys may come faster than redraws
  place.current = now;
  const to = (/** @type {number} */ n) => {
    place.current = Math.min(Math.max(n, 0), last);
    move(place.current);
  };

  useLayoutEffect(() => { // cleaned up at once: a late step would bring back a trace that was left
    if (!playing) return undefined;
    if (now === last) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => to(now + 1), pace / speed);
    return () => clearTimeout(timer);
  }, [playing, now, speed]);

  useKeys((e) => {
    const next = { ArrowRight: place.current + 1, ArrowLeft: place.current - 1, Home: 0, End: last }[e.key];
    if (next === undefined || e.shiftKey) return undefined;
    setPlaying(false);
    return () => to(next);
  });

  useEffect(() => { // keep the current step in view
    const shown = drawn.current?.querySelector('rect.d-current');
    const controls = document.querySelector('.controls');
    if (!shown || !controls) return;
    const bar = controls.getBoundingClientRect().bottom;
    const place = shown.getBoundingClientRect();
    if (place.top < bar) scrollBy(0, place.top - bar - 8);
    else if (place.bottom > innerHeight) scrollBy(0, place.bottom - innerHeight + 8);
  }, [now]);

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
      <label class="speed"><span class="hidden">${p.speed}</span><select class="quiet" onChange=${(e) => setSpeed(Number(e.currentTarget.value))}>
        ${speeds.map((n) => html`<option key=${n} value=${n} selected=${n === speed}>${n}×</option>`)}</select></label>
      ${setGuesses && html`<label class="guesses"><input type="checkbox" checked=${guesses} onChange=${(e) => setGuesses(e.currentTarget.checked)} /> ${p.guess.title}</label>`}
    </div>
    <div class="trace">
      <div class="panel drawn" ref=${drawn}><${Picture} trace=${seen} current=${now} choose=${(n) => { setPlaying(false); to(n); }} />
        <p class="hint">${p.diagramHint}</p></div>
      <div class="aside">
        ${hides && html`<${Guess} key=${now} trace=${trace} now=${now} next=${() => { setPlaying(false); to(now + 1); }} />`}
        ${now > 0 && html`<${Chosen} step=${trace.steps[now - 1]} number=${now} />`}
        <${State} trace=${trace} model=${m} now=${now} />
        ${now === last && html`<${Ending} trace=${trace} />`}
      </div>
    </div>`;
}
