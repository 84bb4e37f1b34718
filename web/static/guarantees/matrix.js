// The guarantee matrix that `make prove` computed, fetched once.
import { call } from '../api.js';

/** @typedef {{answer: string, text?: string, rule?: string, orders?: number, random?: number, preemptions?: number,
 *   cut?: number, wait_s?: number, example?: string, took_s: number}} Cell */
/** @typedef {{strategy: string, title: string, family: string, cells: Record<string, Cell>}} Row */

let asked = null;

export function loadMatrix() {
  asked ??= call('GET', '/guarantees/matrix.json').catch((error) => {
    asked = null; // ask again next time
    throw error;
  });
  return asked;
}

/** The name of a cell's counterexample, "" if there is none. */
export const exampleOf = (cell) => (cell?.example ?? '').replace(/^.*\//, '').replace(/\.json$/, '');

/** Every counterexample of a matrix, by strategy. */
export const examplesOf = (matrix) => matrix.rows
  .map((row) => ({ row, examples: matrix.questions.filter((q) => exampleOf(row.cells[q.id])) }))
  .filter(({ examples }) => examples.length);

/** The rows that a filter leaves. */
export const filtered = (matrix, { family = '', answer = '', question = '', name = '' }) => matrix.rows.filter((row) => {
  const asks = matrix.questions.filter((q) => !question || q.id === question);
  return (!family || row.family === family)
    && (!answer || asks.some((q) => (row.cells[q.id]?.answer ?? '') === answer))
    && (!name || `${row.strategy} ${row.title}`.toLowerCase().includes(name.trim().toLowerCase()));
});
