// The current buyer. The lab has no authentication: any user id will do.
import { remember, remembered } from '../preferences.js';
import { useEffect, useState } from '../ui.js';

const most = Number.MAX_SAFE_INTEGER;
/** @type {Set<(user: number) => void>} */
const watchers = new Set();

/** @param {string} text @returns {number | null} the user id, if it is one */
export function userId(text) {
  const n = Number(text);
  return /^[0-9]{1,16}$/.test(text.trim()) && n >= 1 && n <= most ? n : null;
}

let user = userId(remembered('shop.user') ?? '') ?? 0;
if (user === 0) become(100_000 + crypto.getRandomValues(new Uint32Array(1))[0] % 900_000);

export const buyer = () => user;

/** @param {number} id */
export function become(id) {
  user = id;
  remember('shop.user', String(id));
  watchers.forEach((look) => look(id));
}

/** Hook: the buyer. */
export function useBuyer() {
  const [now, setNow] = useState(user);
  useEffect(() => {
    watchers.add(setNow);
    return () => { watchers.delete(setNow); };
  }, []);
  return now;
}
