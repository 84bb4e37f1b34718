// The class that this browser is in, if it is in one: the lab is told what its
// learner has solved, and looks itself whether that is so.
import { answers, call } from './api.js';
import { remember, remembered } from './preferences.js';
import { keep } from './records.js';

/** @typedef {{code: string, nickname: string}} Member */

/** @returns {Member | null} */
function read() {
  const [code, key] = (remembered('class-key') ?? '').split('.');
  return code && key ? { code, nickname: remembered('class-nickname') ?? '' } : null;
}

const { get, set, use } = keep({ member: read() });

/** Hook: the class, or null. */
export const useMember = () => use().member;

/** @param {string} code @param {string} nickname */
export async function join(code, nickname) {
  const joined = await call('POST', `/api/lab/v1/classes/${encodeURIComponent(code)}/learners`, { nickname });
  remember('class-key', `${joined.code}.${joined.key}`);
  remember('class-nickname', joined.nickname);
  sent.clear();
  set({ member: read() });
}

export function leave() {
  remember('class-key', '');
  remember('class-nickname', '');
  set({ member: null });
}

/** @returns {Promise<Json.Learner>} what the class has of this learner */
export const mine = () => call('GET', `/api/lab/v1/classes/${get().member?.code ?? ''}/me`);

/** @type {Set<string>} what the lab has been told, or is about to be */
const sent = new Set();
/** @type {object[]} */
let waiting = [];
let sending = false;

/**
 * Tells the class what happened: a game that was won, a chapter read, a prediction.
 * @param {{game: string} | {chapter: string} | {chapter: string, run: string, said: string}} what
 */
export function report(what) {
  const key = JSON.stringify(what);
  if (!get().member || sent.has(key)) return;
  sent.add(key);
  waiting.push(what);
  send();
}

async function send() {
  if (sending) return;
  sending = true;
  try {
    for (let now = get().member; now && waiting.length; now = get().member) {
      await call('POST', `/api/lab/v1/classes/${now.code}/results`, waiting[0]).catch((error) => {
        if (!error.status || error.status >= 500) throw error;
      }); // what is refused is refused again
      waiting.shift();
    }
  } catch { /* the lab does not answer: once it does, see below */
  } finally {
    sending = false;
  }
}
answers.addEventListener('back', send);
