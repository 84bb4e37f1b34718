// The state of a purchase: in progress, and its result.
import { remember, remembered } from '../preferences.js';
import { useEffect, useRef, useState } from '../ui.js';
import { buyer } from './buyer.js';
import { attempt, follow, lookUp, pause, send } from './purchase.js';
import { labNow, refresh, untilStart } from './sale.js';

// An attempt is stored until its outcome is known, so that a reload or a crash
// does not lose it.
/** @typedef {import('./purchase.js').Attempt} Attempt */
/** @typedef {import('./purchase.js').Result} Outcome */
/** @typedef {{busy: boolean, result: Outcome | null, attempt: Attempt | null}} Purchase */

/** @type {Purchase} */
const nothing = { busy: false, result: null, attempt: null };

/** @param {number} user */
const place = (user) => `shop.attempt.${user}`;
/** @param {Attempt} a */
const keep = (a) => remember(place(a.user), JSON.stringify(a));
/** @param {Attempt} a */
const drop = (a) => remember(place(a.user), '');
/** @param {number} user @returns {Attempt | null} */
const kept = (user) => {
  try {
    return JSON.parse(remembered(place(user)) || 'null');
  } catch {
    return null;
  }
};

// The clocks agree only to some milliseconds, so a buyer who presses at the start
// may be early by the server's clock. Retry for so long, in ms.
const momentary = 2000;

/** Answers after which the attempt is asked for again. */
const open = ['unknown', 'accepted', 'forgotten'];

/** @param {import('./sale.js').Sale | null} sale @param {number} user */
export function usePurchase(sale, user) {
  const [state, setState] = useState(nothing);

  const show = (/** @type {Attempt} */ a, /** @type {boolean} */ busy, /** @type {Outcome | null} */ result) => { // only to its own buyer
    if (a.user === buyer()) setState({ busy, result, attempt: a });
  };
  const finish = (/** @type {Attempt} */ a, /** @type {Outcome} */ result) => {
    if (!open.includes(result.code)) drop(a);
    show(a, false, result);
    refresh();
  };
  const wait = async (/** @type {Attempt} */ a, /** @type {Outcome} */ result) => { // for the second answer
    show(a, true, result);
    const pressed = performance.now() - (result.took ?? 0);
    const final = await follow(a);
    finish(a, { ...result, ...final, accepted: result.took, took: performance.now() - pressed });
  };
  const look = async (/** @type {Attempt} */ a) => {
    show(a, true, { code: 'looking' });
    const result = await lookUp(a);
    if (result.code === 'accepted') await wait(a, result);
    else finish(a, result);
  };
  const go = async (/** @type {Attempt} */ a) => {
    show(a, true, null);
    keep(a);
    const pressed = performance.now();
    const at = labNow();
    const until = pressed + momentary;
    let result = await send(a);
    while (result.code === 'not_started' && untilStart(sale) === 0 && performance.now() < until) {
      await pause(100);
      result = await send(a);
    }
    const took = performance.now() - pressed;
    if (result.code === 'unknown') await look(a);
    else if (result.code === 'accepted') await wait(a, { ...result, at, took });
    else finish(a, { ...result, at, took });
  };

  const going = useRef(false);
  const once = async (/** @type {() => Promise<void>} */ it) => { // a second press is part of the first
    if (going.current) return;
    going.current = true;
    await it();
    going.current = false;
  };

  useEffect(() => {
    const left = kept(user);
    if (left?.key && left.user === user) look(left);
    else setState(nothing);
  }, [user]);
  const run = useRef(sale?.run);
  useEffect(() => { // a new sale invalidates the last result
    const another = run.current !== undefined && run.current !== sale?.run;
    run.current = sale?.run ?? run.current;
    if (another) setState((now) => (now.busy || open.includes(now.result?.code ?? '') ? now : nothing));
  }, [sale?.run]);

  return {
    ...state,
    buy: (/** @type {import('./purchase.js').Way} */ way) => once(async () => {
      if (state.attempt && open.includes(state.result?.code ?? '')) await go(state.attempt);
      else if (sale) await go(attempt(sale, user, way));
    }),
    again: () => once(async () => { if (state.attempt) await go(state.attempt); }),
  };
}
