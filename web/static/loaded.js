// What a screen loads: tried again on demand, and by itself once the lab answers
// again. A failure names no language: its message is read when it is drawn.
import { answers, Refused } from './api.js';
import { useLab } from './lab.js';
import { t } from './text.js';
import { html, useEffect, useRef, useState } from './ui.js';

/**
 * Calls again when the lab answers after it did not; returns a stop function.
 * @param {() => void} again
 */
export function whenBack(again) {
  answers.addEventListener('back', again);
  return () => answers.removeEventListener('back', again);
}

/**
 * Hook: what load resolves to; null until then. A later failure stands beside it, until
 * an attempt succeeds.
 * @template T
 * @param {() => Promise<T>} load @param {unknown[]} of what it depends on
 * @returns {{value: T | null, error: Error | null, again: () => void}}
 */
export function useLoaded(load, of) {
  const [got, setGot] = useState(/** @type {{key: string, value: T | null, error: Error | null}} */ ({ key: '', value: null, error: null }));
  const [turn, setTurn] = useState(0);
  const missing = useRef(false);
  const key = JSON.stringify(of);
  const again = () => setTurn((n) => n + 1);
  useEffect(() => {
    let left = false;
    missing.current = false;
    load().then((value) => left || setGot({ key, value, error: null }), (error) => {
      if (left) return;
      missing.current = true;
      setGot((last) => ({ key, value: last.key === key ? last.value : null, error }));
    });
    return () => { left = true; };
  }, [key, turn]);
  useEffect(() => whenBack(() => { if (missing.current) again(); }), []); // from the start: it may be back before the failure is drawn
  const now = got.key === key ? got : { value: null, error: null };
  return { value: now.value, error: now.error, again };
}

/**
 * Hook: asks again a while after each answer, as long as the page is seen.
 * @param {() => void} again @param {number} pace in ms; 0: not @param {unknown[]} answer
 */
export function usePolling(again, pace, answer) {
  useEffect(() => {
    if (!pace) return undefined;
    const next = () => {
      if (document.hidden) document.addEventListener('visibilitychange', next, { once: true });
      else again();
    };
    const timer = setTimeout(next, pace);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', next);
    };
  }, answer);
}

/**
 * A load that is done once, and again after it failed.
 * @template T
 * @param {() => Promise<T>} load @returns {() => Promise<T>}
 */
export function once(load) {
  /** @type {Promise<T> | null} */
  let asked = null;
  return () => {
    asked ??= load().catch((error) => {
      asked = null;
      throw error;
    });
    return asked;
  };
}

/**
 * A failed load, with a button to try again.
 * @param {{error: Error, again: () => void, title?: string, said?: string}} props said: in place of the error's own words
 */
export const Failed = ({ error, again, title, said }) => html`
  <section class="panel failed" role="alert">${title && html`<h1>${title}</h1>`}
    <p class="wrong">${said ?? error.message}</p>
    <p><button type="button" class="offer small" onClick=${again}>${t.nav.again}</button></p></section>`;

/**
 * What stands in place of what is not loaded yet, or could not be.
 * @param {{error: Error | null, again: () => void, title?: string, said?: string}} props
 */
export const Awaited = ({ error, ...failed }) => (error ? html`<${Failed} error=${error} ...${failed} />` : html`<p class="hint">${t.nav.loading}</p>`);

/**
 * Hook: actions, one at a time, and why the last one failed; that there was no answer is
 * forgotten when the lab answers again. said: what an error means here, '' if it is shown
 * elsewhere; without, the error's own words.
 * @param {(error: any) => string | Promise<string>} [said]
 */
export function useAction(said) {
  const [failure, setFailure] = useState('');
  const [busy, setBusy] = useState(false);
  const answered = useRef(false);
  const { status } = useLab();
  useEffect(() => (failure && !answered.current ? whenBack(() => setFailure('')) : undefined), [failure]);
  const act = async (/** @type {() => unknown} */ does) => {
    if (busy) return;
    setBusy(true);
    setFailure('');
    try {
      await does();
    } catch (error) {
      answered.current = error instanceof Refused;
      if (said) setFailure(await said(error));
      else setFailure(error.code === 'forbidden' && status?.token_needed ? t.wrong.token : error.message);
    } finally {
      setBusy(false);
    }
  };
  return { busy, failure, act };
}

/** @param {{failure: string}} props */
export const Wrong = ({ failure }) => html`<div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>`;

/**
 * A screen, or a part of one, that is loaded when it is first drawn.
 * @param {() => Promise<Record<string, any>>} load @param {string} name of the component in what it loads
 * @param {() => string} [failed] says that it could not be loaded; without, nothing stands in its place
 */
export function later(load, name, failed) {
  /** @type {Record<string, any> | null} */
  let here = null; // from then on it is drawn at once
  return function Later(/** @type {Record<string, any>} */ props) {
    const { error, again } = useLoaded(async () => { here = await load(); }, []);
    if (here) return html`<${here[name]} ...${props} />`;
    return failed && html`<${Awaited} error=${error} again=${again} said=${failed()} />`;
  };
}
