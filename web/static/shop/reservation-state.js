// The buyer's reservation: held, being paid or cancelled, and how it ended.
import { remember, remembered } from '../preferences.js';
import { useEffect, useRef, useState } from '../ui.js';
import { buyer } from './buyer.js';
import { find, read, settle, sharper } from './reservation.js';
import { refresh } from './sale.js';

/**
 * said: what the last call came to, if the state does not tell.
 * acted: this page's buyer made, paid or cancelled it.
 * @typedef {{held: import('./reservation.js').Held | null, doing: '' | 'pay' | 'cancel', looking: boolean, said: string, acted: boolean}} State
 */

/** @type {State} */
const none = { held: null, doing: '', looking: false, said: '', acted: false };

const pace = { quiet: 3000, due: 500 }; // between two looks, in ms: another page may pay, and a sweeper gives back

/** @param {number} user */
const place = (user) => `shop.reservation.${user}`;

/** @param {import('./sale.js').Sale | null} sale @param {number} user */
export function useReservation(sale, user) {
  const [state, setState] = useState(none);
  const now = useRef(state);
  const set = (/** @type {Partial<State>} */ change) => {
    now.current = { ...now.current, ...change };
    setState(now.current);
  };

  /** @param {string} id @param {import('./reservation.js').Answer} answer @returns {boolean} it is known what the reservation is now */
  const hear = (id, { code, held }) => {
    if (buyer() !== user) return true;
    if (held) {
      set({ held: sharper(now.current.held, held) });
      return true;
    }
    if (code !== 'unknown_order') return false;
    remember(place(user), '');
    set({ ...none, said: now.current.held?.id === id && now.current.held.state === 'reserved' ? 'gone' : '' });
    return true;
  };
  const look = async () => {
    const id = now.current.held?.id;
    if (id && !now.current.doing) hear(id, await read(id));
  };
  /** @param {string} id */
  const open = async (id) => {
    remember(place(user), id);
    hear(id, await read(id));
  };
  const search = async () => {
    const id = sale && await find(user, sale.sku);
    if (id && buyer() === user) await open(id);
  };

  /** @param {'pay' | 'cancel'} what */
  const does = async (what) => {
    const { held, doing } = now.current;
    if (!held || doing) return; // a second press is part of the first
    set({ doing: what, said: '', acted: true });
    const answer = await settle(what, held.id, () => { if (buyer() === user) set({ looking: true }); });
    if (buyer() !== user) return;
    const ended = { doing: /** @type {''} */ (''), looking: false };
    if (hear(held.id, answer)) set(ended);
    else {
      if (['expired', 'cancelled', 'paid'].includes(answer.code)) hear(held.id, await read(held.id));
      const said = { expired: 'late', cancelled: 'was_cancelled', paid: 'was_paid', unknown: `unknown_${what}` }[answer.code];
      set({ ...ended, said: said ?? `failed_${what}` });
    }
    refresh();
  };

  const held = state.held?.state === 'reserved';
  useEffect(() => {
    now.current = none;
    setState(none);
    const id = remembered(place(user));
    if (id) open(id);
  }, [user]);
  useEffect(() => { if (sale?.reserves && !now.current.held) search(); }, [user, sale?.run, sale?.reserves]);
  const run = useRef(sale?.run);
  useEffect(() => { // a new sale ends all reservations
    const another = run.current !== undefined && run.current !== sale?.run;
    run.current = sale?.run ?? run.current;
    if (!sale || !another || now.current.doing) return;
    if (held) look();
    else if (now.current.said !== 'gone') set(none);
  }, [sale?.run]);
  useEffect(() => { // as long as it is held
    if (!held) return undefined;
    let timer = 0;
    let here = true;
    const again = async () => {
      clearTimeout(timer);
      if (!document.hidden) await look();
      const left = (now.current.held?.endsAt ?? 0) - performance.now();
      if (here) timer = setTimeout(again, left > 0 ? Math.min(pace.quiet, left + 20) : pace.due);
    };
    const back = () => { if (!document.hidden) again(); }; // also by the back button
    document.addEventListener('visibilitychange', back);
    addEventListener('pageshow', back);
    timer = setTimeout(again, pace.due);
    return () => {
      here = false;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', back);
      removeEventListener('pageshow', back);
    };
  }, [held, state.held?.id]);
  useEffect(() => { if (state.held) refresh(); }, [state.held?.state]);

  return {
    ...state,
    /** @param {string} id of one that was just made */
    made: (id) => {
      set({ ...none, acted: true });
      open(id);
    },
    search,
    look,
    pay: () => does('pay'),
    cancel: () => does('cancel'),
  };
}
