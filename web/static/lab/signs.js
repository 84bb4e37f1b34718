// A strategy's guarantees as small signs: the matrix's answer, or what the
// strategy's own file expects.
import { kinds, markOf, signs } from '../guarantees/marks.js';
import { loadMatrix } from '../guarantees/matrix.js';
import { t } from '../text.js';
import { html, useEffect, useState } from '../ui.js';

// The questions that fit into the list.
const shown = ['oversell', 'lost-update', 'processes', 'dead-holder', 'lease-end', 'owner', 'other-skus', 'node-loss'];

/**
 * The questions of the list; [] until the matrix is here.
 * @param {Json.Matrix | null} matrix
 */
const promised = (matrix) => (matrix?.questions ?? []).filter((q) => shown.includes(q.id));

/** @param {Json.Strategy} strategy @param {Json.Question} question @param {Json.Matrix} matrix @returns {string} its mark: all, tried, breaks …, or ''; holds, if it is only expected */
function answerOf(strategy, question, matrix) {
  const cell = matrix.rows.find((row) => row.strategy === strategy.name)?.cells[question.id];
  return markOf(cell) || strategy.guarantees?.[question.id] || '';
}

/** Hook: the matrix, loaded on demand because of its size. */
export function useMatrix(wanted) {
  const [matrix, setMatrix] = useState(/** @type {Json.Matrix | null} */ (null));
  useEffect(() => {
    if (wanted && !matrix) loadMatrix().then(setMatrix, () => { /* the list works without signs */ });
  }, [wanted]);
  return matrix;
}

/** The titles of the questions that a strategy holds, in all languages, for search. */
export const heldBy = (strategy, matrix, dictionaries) => promised(matrix)
  .filter((q) => ['holds', 'all', 'tried'].includes(answerOf(strategy, q, matrix)))
  .flatMap((q) => dictionaries.map((d) => d.guarantees.titleOf(q)));

export const SignHeads = ({ matrix }) => html`
  <div class="sign-heads" aria-hidden="true">${promised(matrix).map((q) => html`<span key=${q.id}>${t.guarantees.titleOf(q)}</span>`)}</div>`;

export const Signs = ({ strategy, matrix }) => html`
  <span class="signs">${promised(matrix).map((q) => {
    const answer = answerOf(strategy, q, matrix);
    const words = `${t.guarantees.titleOf(q)}: ${t.guarantees.answers[answer]}`;
    return html`<span key=${q.id} class=${`mark ${kinds[answer]}`} title=${words}><span aria-hidden="true">${signs[answer]}</span><span class="hidden">${words}. </span></span>`;
  })}</span>`;
