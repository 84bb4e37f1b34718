// The guarantee matrix that `make prove` computed, fetched once.
import { call } from '../api.js';
import { once } from '../loaded.js';

/** @type {() => Promise<Json.Matrix>} */
export const loadMatrix = once(() => call('GET', '/guarantees/matrix.json'));

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
