// A game that is open in the lab: it is begun from the address, moved, taken
// back, and ended when it is left.
import { call, Refused } from '../api.js';
import { whenBack } from '../loaded.js';
import { read } from '../route.js';
import { useEffect, useLayoutEffect, useRef, useState } from '../ui.js';

/**
 * before: the game before the last change.
 * @typedef {{game: Json.Game | null, before: Json.Game | null, busy: boolean, failure: Failure | null}} Session
 * @typedef {Error & {code?: string}} Failure
 */

const games = '/api/lab/v1/games';

/** The game has moved on, or is over: what it is now says why the move cannot be made. */
const stale = ['impossible_move', 'game_over', 'nothing_to_undo'];

/**
 * Whether the last move met a connection that no fault of the game has killed, but one of a run of the lab.
 * @param {Json.Game} game
 */
const isSevered = ({ steps, buyers, setting, faults_left: left }) => left === (setting.max_faults ?? 0)
  && /invalid connection|connection reset|broken pipe/.test(JSON.stringify([steps.at(-1), buyers.map((b) => b.told)]));

/**
 * Hook: the game of an address. keep writes a schedule into the address.
 * @param {object} begin what it begins with @param {string} schedule of the address @param {(schedule: string) => void} keep
 */
export function useSession(begin, schedule, keep) {
  const [session, setSession] = useState(/** @type {Session} */ ({ game: null, before: null, busy: true, failure: null }));
  const [turn, setTurn] = useState(0); // of opening it
  const game = /** @type {{current: Json.Game | null}} */ (useRef(null)); // known at once, also to what was queued before
  const shown = useRef(schedule);
  const queue = useRef(Promise.resolve());
  const retry = useRef(() => {});
  const key = JSON.stringify(begin);

  const take = (/** @type {Json.Game} */ now) => {
    const before = game.current;
    game.current = now;
    shown.current = now.schedule;
    setSession({ game: now, before: before?.id === now.id ? before : null, busy: false, failure: null });
    keep(now.schedule);
  };
  const miss = (/** @type {Failure} */ failure) => {
    if (failure.code === 'unknown_game') game.current = null; // the lab has ended it
    setSession((s) => ({ ...s, busy: false, failure }));
  };

  useLayoutEffect(() => { // cleaned up at once: an answer may come before an effect is
    let left = false;
    /** @type {Json.Game | null} */
    let own = null;
    game.current = null;
    shown.current = schedule;
    setSession({ game: null, before: null, busy: true, failure: null });
    const end = () => {
      if (own) call('DELETE', `${games}/${own.id}`, undefined, { keepalive: true }).catch(() => {}); // the lab ends it by itself later
      own = null;
    };
    const opening = call('POST', games, { ...begin, ...(schedule && { schedule }) }).then((now) => {
      own = now;
      if (left) end();
      else take(now);
    }, (error) => { if (!left) miss(error); });
    queue.current = queue.current.then(() => opening); // keys that are pressed meanwhile come after it
    addEventListener('pagehide', end);
    return () => {
      left = true;
      game.current = null; // an answer that is on its way is no longer this page's
      removeEventListener('pagehide', end);
      end();
    };
  }, [key, turn]);

  const open = () => setTurn((n) => n + 1);

  useEffect(() => { // the address was changed, also by going back in the history
    if (schedule !== shown.current && (read().query.s ?? '') !== shown.current) open(); // moves may be ahead of the drawn address
  }, [schedule]);

  /** One call after the other: keys may be faster than servers. */
  const act = (/** @type {(game: Json.Game) => [path: string, body: object] | null} */ what) => {
    queue.current = queue.current.then(async () => {
      const now = game.current;
      const does = now && what(now);
      if (!does) return;
      setSession((s) => ({ ...s, busy: true }));
      try {
        const ask = (/** @type {string} */ path, /** @type {object} */ body) => call('POST', `${games}/${now.id}/${path}`, body);
        let next = await ask(...does);
        if (does[0] === 'moves' && isSevered(next)) { // undone, and made again by a new connection
          await ask('undo', { moves: 1 });
          next = await ask(...does);
        }
        if (game.current === now) take(next);
      } catch (error) {
        if (game.current !== now) return;
        miss(error);
        if (stale.includes(error.code)) await look(now);
      }
    });
  };
  const look = async (/** @type {Json.Game} */ now) => { // what the lab says that it is
    try {
      const next = await call('GET', `${games}/${now.id}`);
      if (game.current !== now) return;
      game.current = next;
      shown.current = next.schedule;
      setSession((s) => ({ ...s, game: next, before: null }));
      keep(next.schedule);
    } catch (error) {
      if (game.current === now) miss(error);
    }
  };

  const again = () => {
    const now = game.current;
    if (!now) open();
    else {
      setSession((s) => ({ ...s, failure: null }));
      queue.current = queue.current.then(() => look(now));
    }
  };
  retry.current = session.failure && !(session.failure instanceof Refused) ? again : () => {};
  useEffect(() => whenBack(() => retry.current()), []);

  return {
    ...session,
    again,
    /** @param {(game: Json.Game) => Json.GameMove | undefined} choose a move of the game as it is by then */
    move: (choose) => act((now) => {
      const chosen = choose(now);
      return chosen ? ['moves', { move: chosen.move }] : null;
    }),
    /** @param {number} [moves] all without */
    undo: (moves) => act((now) => (now.moves_made ? ['undo', { moves: moves ?? now.moves_made }] : null)),
    sayImpossible: () => act(() => ['impossible', {}]),
  };
}
