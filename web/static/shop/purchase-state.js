// A purchase as the page sees it: what is under way, and what came of it.
import { remember, remembered } from '../preferences.js';
import { useEffect, useState } from '../ui.js';
import { attempt, lookUp, send } from './purchase.js';
import { refresh, untilStart } from './sale.js';

// An attempt is kept while its outcome is not known: a reload, or a phone that
// ran out of power, does not lose it.
const keep = (a) => remember('shop.attempt', a ? JSON.stringify(a) : '');
const kept = () => {
  try {
    return JSON.parse(remembered('shop.attempt') || 'null');
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

  const finish = (a, result) => {
    if (result.code !== 'unknown') keep(null);
    setState({ busy: false, result, attempt: a });
    refresh();
  };
  const look = async (a) => {
    setState({ busy: true, result: { code: 'looking' }, attempt: a });
    finish(a, await lookUp(a));
  };
  const go = async (a) => {
    setState({ busy: true, result: null, attempt: a });
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
    const open = kept();
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
