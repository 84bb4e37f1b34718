// The state of a purchase: in progress, and its result.
import { remember, remembered } from '../preferences.js';
import { useEffect, useState } from '../ui.js';
import { buyer } from './buyer.js';
import { attempt, lookUp, send } from './purchase.js';
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
/** @param {number} ms */
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** @param {import('./sale.js').Sale | null} sale @param {number} user */
export function usePurchase(sale, user) {
  const [state, setState] = useState(nothing);

  const show = (/** @type {Attempt} */ a, /** @type {boolean} */ busy, /** @type {Outcome | null} */ result) => { // only to its own buyer
    if (a.user === buyer()) setState({ busy, result, attempt: a });
  };
  const finish = (/** @type {Attempt} */ a, /** @type {Outcome} */ result) => {
    if (result.code !== 'unknown') drop(a);
    show(a, false, result);
    refresh();
  };
  const look = async (/** @type {Attempt} */ a) => {
    show(a, true, { code: 'looking' });
    finish(a, await lookUp(a));
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
    else finish(a, { ...result, at, took });
  };

  useEffect(() => {
    const open = kept(user);
    if (open?.key && open.user === user) look(open);
    else setState(nothing);
  }, [user]);
  useEffect(() => { // a new sale invalidates the last result
    setState((now) => (now.busy || now.result?.code === 'unknown' ? now : nothing));
  }, [sale?.run]);

  return {
    ...state,
    buy: () => {
      if (state.result?.code === 'unknown' && state.attempt) go(state.attempt);
      else if (sale) go(attempt(sale, user));
    },
    again: () => { if (state.attempt) go(state.attempt); },
  };
}
