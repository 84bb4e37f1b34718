// Where traces come from: the proof's counterexamples, lessons, and the lab's own.
import { Refused, ask, call } from '../api.js';
import { playable } from './live.js';
import { readExample, Unreadable } from './read.js';

const live = 'live.'; // a trace that the lab has recorded

/** @param {string} name */
export const fileOf = (name) => (name.startsWith(live) ? `/api/lab/v1/traces/${name.slice(live.length)}` : `${name.startsWith('held.') ? '/static/lessons' : '/guarantees'}/${name}.json`);

/** @param {string} name @returns {Promise<import('./model.js').Trace>} */
export async function fetchExample(name) {
  if (!/^[\w-]+(\.[\w-]+)+$/.test(name)) throw new Unreadable('unknown', name);
  if (name.startsWith(live)) {
    return call('GET', fileOf(name)).then(playable, (error) => {
      throw error.code === 'unknown_trace' ? new Unreadable('gone') : error;
    });
  }
  // A trace that holds belongs to a lesson: the matrix has only counterexamples.
  return ask(fileOf(name), {}, async (answer) => {
    if (answer.status === 404) throw new Unreadable('unknown', name);
    if (!answer.ok) throw new Refused({ status: answer.status });
    return readExample(await answer.text());
  });
}
