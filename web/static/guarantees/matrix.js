// The guarantee matrix that `make prove` computed, fetched once.
import { call } from '../api.js';
import { markOf } from './marks.js';

/** @type {Promise<Json.Matrix> | null} */
let asked = null;

/** @returns {Promise<Json.Matrix>} */
export function loadMatrix() {
  asked ??= call('GET', '/guarantees/matrix.json').catch((error) => {
    asked = null; // retry next time
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

/** The groups of columns, in order. Questions in no group are under "more". */
const groups = {
  sound: ['oversell', 'lost-update', 'processes', 'other-skus', 'history'],
  one: ['dead-holder', 'lease-end', 'clocks', 'owner', 'lost-reply', 'late-command', 'renewal', 'node-loss'],
  more: ['cancel', 'reset', 'same-key', 'two-faults'],
  measured: ['hung-holder', 'waits', 'order', 'reentrant'],
};

/**
 * The questions as the page shows them: by group.
 * @param {Json.Question[]} questions @returns {{group: string, questions: Json.Question[]}[]}
 */
export function grouped(questions) {
  const ids = Object.entries(groups);
  const groupOf = (/** @type {Json.Question} */ q) => ids.find(([, list]) => list.includes(q.id))?.[0] ?? 'more';
  return ids.map(([group]) => ({ group, questions: questions.filter((q) => groupOf(q) === group) })).filter((g) => g.questions.length);
}

/**
 * Answers on other servers that differ.
 * @param {Json.Matrix} matrix @param {string} strategy @param {string} question
 * @returns {{servers: string, cell: Json.Cell}[]}
 */
export const elsewhere = (matrix, strategy, question) => (matrix.also ?? []).flatMap(({ servers, differs }) => {
  const cell = differs?.[strategy]?.[question];
  return cell ? [{ servers, cell }] : [];
});

/**
 * The rows that match a filter. `holds` matches both `all` and `tried`.
 * @param {Json.Matrix} matrix @param {Record<string, string>} filter
 */
export const filtered = (matrix, { family = '', answer = '', question = '', name = '' }) => matrix.rows.filter((row) => {
  const asks = matrix.questions.filter((q) => !question || q.id === question);
  return (!family || row.family === family)
    && (!answer || asks.some((q) => (row.cells[q.id]?.answer ?? '') === answer || markOf(row.cells[q.id]) === answer))
    && (!name || `${row.strategy} ${row.title}`.toLowerCase().includes(name.trim().toLowerCase()));
});
