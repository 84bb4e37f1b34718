// A purchase as the page sees it: what is under way, and what came of it.
import { remember, remembered } from '../preferences.js';
import { useEffect, useState } from '../ui.js';
import { buyer } from './buyer.js';
import { attempt, lookUp, send } from './purchase.js';
import { refresh, untilStart } from './sale.js';

// An attempt is kept while its outcome is not known: a reload, or a phone that
// ran out of power, does not lose it.
const place = (user) => `shop.attempt.${user}`;
const keep = (a) => remember(place(a.user), JSON.stringify(a));
const drop = (a) => remember(place(a.user), '');
const kept = (user) => {
  try {
    return JSON.parse(remembered(place(user)) || 'null');
  } catch {
    return null;
  }
};

// Both clocks are right to some milliseconds: who presses in the very moment
// may be early by the server's. For so long, in ms, he is asked in again.
const momentary = 2000;
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** @returns {{busy: boolean, result: any, buy: () => void, again: () => void}} */
export function usePurchase(sale, user) {
  const [state, setState] = useState({ busy: false, result: null, attempt: null });

  const show = (a, busy, result) => { // to him whose purchase it is
    if (a.user === buyer()) setState({ busy, result, attempt: a });
  };
  const finish = (a, result) => {
    if (result.code !== 'unknown') drop(a);
    show(a, false, result);
    refresh();
  };
  const look = async (a) => {
    show(a, true, { code: 'looking' });
    finish(a, await lookUp(a));
  };
  const go = async (a) => {
    show(a, true, null);
    keep(a);
    const until = performance.now() + momentary;
    let result = await send(a);
    while (result.code === 'not_started' && untilStart(sale) === 0 && performance.now() < until) {
      await pause(100);
      result = await send(a);
    }
    if (result.code === 'unknown') await look(a);
    else finish(a, result);
  };

  useEffect(() => {
    const open = kept(user);
    if (open?.key && open.user === user) look(open);
    else setState({ busy: false, result: null, attempt: null });
  }, [user]);
  useEffect(() => { // a new sale: what was said of the last one is no longer true
    setState((now) => (now.busy || now.result?.code === 'unknown' ? now : { busy: false, result: null, attempt: null }));
  }, [sale?.run]);

  return {
    ...state,
    buy: () => go(state.result?.code === 'unknown' ? state.attempt : attempt(sale, user)),
    again: () => go(state.attempt),
  };
}
