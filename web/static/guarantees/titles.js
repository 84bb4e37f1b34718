// The strategies' titles in the page's language; the matrix has the English ones.
import { useLab } from '../lab.js';
import { t } from '../text.js';

/** Hook: a row's title. */
export function useTitles() {
  const { strategies } = useLab();
  return (/** @type {Json.Row} */ row) => strategies.find((s) => s.name === row.strategy)?.titles?.[t.code] ?? row.title;
}
