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
 * The rules that a cell breaks, its own first.
 * @param {Json.Cell} cell @returns {Json.Finding[]}
 */
export const findingsOf = (cell) => (cell.rule ? [cell, ...(cell.also ?? [])] : []);

/**
 * A cell's counterexamples: the name of each, and the rules for which it is kept.
 * @param {Json.Cell} [cell] @returns {{name: string, rules: string[]}[]}
 */
export function shownBy(cell) {
  const findings = cell ? findingsOf(cell).filter(exampleOf) : [];
  return [...new Set(findings.map(exampleOf))].map((name) => ({ name, rules: findings.filter((f) => exampleOf(f) === name).map((f) => f.rule ?? '') }));
}

/**
 * Every counterexample of a matrix, by strategy.
 * @param {Json.Matrix} matrix
 */
export const examplesOf = (matrix) => matrix.rows
  .map((row) => ({ row, examples: matrix.questions.flatMap((question) => shownBy(row.cells[question.id]).map((e, i) => ({ ...e, question, further: i > 0 }))) }))
  .filter(({ examples }) => examples.length);
