// The guarantee matrix that `make prove` computed, fetched once.
import { call } from '../api.js';

/** @type {Promise<Json.Matrix> | null} */
let asked = null;

/** @returns {Promise<Json.Matrix>} */
export function loadMatrix() {
  asked ??= call('GET', '/guarantees/matrix.json').catch((error) => {
    asked = null; // ask again next time
    throw error;
  });
  return asked;
}

/**
 * The name of a cell's counterexample, "" if there is none.
 * @param {{example?: string}} [cell]
 */
export const exampleOf = (cell) => (cell?.example ?? '').replace(/^.*\//, '').replace(/\.json$/, '');

/**
 * Every counterexample of a matrix, by strategy.
 * @param {Json.Matrix} matrix
 */
export const examplesOf = (matrix) => matrix.rows
  .map((row) => ({ row, examples: matrix.questions.filter((q) => exampleOf(row.cells[q.id])) }))
  .filter(({ examples }) => examples.length);

/**
 * The rows that a filter leaves.
 * @param {Json.Matrix} matrix @param {Record<string, string>} filter
 */
export const filtered = (matrix, { family = '', answer = '', question = '', name = '' }) => matrix.rows.filter((row) => {
  const asks = matrix.questions.filter((q) => !question || q.id === question);
  return (!family || row.family === family)
    && (!answer || asks.some((q) => (row.cells[q.id]?.answer ?? '') === answer))
    && (!name || `${row.strategy} ${row.title}`.toLowerCase().includes(name.trim().toLowerCase()));
});
