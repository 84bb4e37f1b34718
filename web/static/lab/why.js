// What stands beside a verdict: two buyers of a sale that broke, who died with the lock
// of one that is blocked, what one that held has withstood; and what to run next.
import { markOf } from '../guarantees/marks.js';
import { exampleOf, loadMatrix } from '../guarantees/matrix.js';
import { start, wantStrategies } from '../lab.js';
import { useAction, useLoaded, Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { go, link } from '../route.js';
import { t } from '../text.js';
import { html, useEffect } from '../ui.js';
import { Picture } from '../trace/picture.js';
import { happened } from './effect.js';
import { Problems } from './rules.js';
import { another, request } from './settings.js';
import { words } from './text.js';

/** @typedef {{run: Json.Run, lane: Json.Lane, lab: import('../lab.js').State}} Shown */
/** @typedef {{user_id: number, quantity: number, remaining: number}} Order */
/** @typedef {{kind: string, unit?: number, orders: Order[]}} Witness */

/** The questions whose counterexamples explain a verdict best, in order. */
const tells = /** @type {Record<string, string[]>} */ ({
  oversold: ['oversell', 'lost-update', 'processes', 'lease-end'],
  lost: ['lost-update', 'oversell', 'processes', 'dead-holder', 'lost-reply'],
  blocked: ['dead-holder', 'lost-reply', 'two-faults'],
});

/** @param {Shown} props */
export function Because({ run, lane, lab }) {
  const { value: matrix } = useLoaded(loadMatrix, []);
  const { result } = lane;
  const verdict = result?.verdict ?? '';
  const row = matrix?.rows.find((r) => r.strategy === lane.strategy);
  const inside = (/** @type {unknown} */ it) => html`<section class="panel because-of" data-explains=${verdict}>${it}</section>`;
  if (verdict === 'not_valid' && result) return inside(html`<${Problems} result=${result} />`);
  if (verdict === 'held') return inside(html`<${Held} run=${run} lane=${lane} kinds=${lab.status?.faults ?? []} matrix=${matrix} row=${row} />`);
  const question = tells[verdict]?.find((q) => exampleOf(row?.cells[q]));
  const play = question && html`<p class="buttons"><a class="offer small" href=${link('trace', exampleOf(row?.cells[question]))}>${words().why.play}</a></p>`;
  const cause = met(run, lane)[0];
  const witness = witnessOf(result?.audit, cause?.effect?.holder?.user_id);
  if (verdict === 'blocked') return inside(html`<${Blocked} run=${run} lane=${lane} family=${lab.strategies.find((s) => s.name === lane.strategy)?.family} />${play}`);
  const holder = cause?.effect?.holder;
  const isHolder = witness?.orders.some((o) => o.user_id === holder?.user_id);
  return (witness || play) && inside(html`
    ${witness && html`<h3>${cause ? words().why.after(happened(cause)) : words().why.title}</h3>
      ${cause && html`<p data-cause=${cause.kind}>${holder && isHolder ? words().why.frozen(cause, witness) : words().why.struck(happened(cause), cause.at_ms)}</p>`}
      <p>${words().why[witness.kind]?.(witness)}</p><${Picture} trace=${traceOf(witness)} zoom=${run.lanes.length > 1 ? 1 : 1.3} />`}${play}`);
}

/**
 * What to run next: one that holds after one that broke, and then both side by side.
 * @param {Shown} props
 */
export function Next({ run, lane, lab }) {
  const { busy, failure, act } = useAction();
  useEffect(wantStrategies, []);
  const { result } = lane;
  const w = words().why;
  const broke = tells[result?.verdict ?? ''] !== undefined;
  const repair = lab.strategies.find((s) => s.name === lane.strategy)?.repair;
  const next = lab.strategies.find((s) => s.name === repair && s.available)?.name;
  const broken = lab.strategies.filter((s) => s.repair === lane.strategy).map((s) => s.name);
  const ran = lab.runs.find((r) => r.settings.strategies.length === 1 && broken.includes(r.settings.strategies[0]))?.settings.strategies[0];
  const names = run.lanes.length > 1 ? [] : broke && next ? [next] : result?.verdict === 'held' && ran ? [ran, lane.strategy] : [];
  const on = busy || isOn(lab.newest);
  const runNext = () => on || act(async () => {
    await start(request({ ...another(run.settings), strategies: names }));
    go('lab');
  });
  const short = result?.signs?.right === 'yes' && result.signs.served === 'no' ? result.signs : null;
  const remark = result?.strategy.broken && (result.verdict === 'held' ? t.verdict.brokenHeld : broke && t.verdict.brokenBroke);
  return html`
    ${short && html`<p class="wrong" data-sign="served" data-answer="no">${words().signs.says.served.no}${t.colon}${missed(short)}${t.stop}</p>`}
    ${remark && html`<p class="lesson">${remark(lane.strategy)} <a href=${link('lessons', lane.strategy)}>${t.verdict.why}</a></p>`}
    ${names.length > 0 && html`<p><button type="button" class="run next" aria-disabled=${on ? 'true' : undefined} onClick=${runNext}>${names.length > 1 ? w.both : w.run(names[0])}</button></p>`}
    <${Wrong} failure=${failure} />`;
}

/**
 * In what buyers were served short.
 * @param {Json.Signs} signs
 */
export const missed = ({ short, limits }) => (short ?? []).map(({ code, params }) => words().signs.short[code]?.(params, limits) ?? code).join(t.semicolon);

/**
 * Two orders that sold one unit, or one that was told of less than nothing left.
 * @param {Json.Audit | null} [audit] @param {number} [suspect] a user whose orders are preferred @returns {Witness | undefined}
 */
function witnessOf(audit, suspect) {
  const shown = (audit?.violations ?? []).flatMap(({ rule, cases = [] }) => cases.map((c) => ({ rule, ...c })));
  const twice = shown.filter((c) => c.code === 'twice');
  const { code, params: p } = twice.find((c) => [c.params.user, c.params.other_user].includes(suspect)) ?? twice[0] ?? shown.find((c) => c.rule === 'negative_stock') ?? {};
  if (!p?.quantity) return undefined;
  const first = { user_id: p.user, quantity: p.quantity, remaining: p.left };
  if (code !== 'twice') return { kind: 'below', orders: [first] };
  return { kind: code, unit: p.unit, orders: [first, { user_id: p.other_user, quantity: p.other_quantity, remaining: p.other_left }] };
}

/**
 * What the buyers found and left. Which of them wrote first is not known.
 * @param {Witness} witness @returns {import('../trace/model.js').Trace}
 */
function traceOf({ orders: [a, b] }) {
  const w = words().why;
  const found = (/** @type {Order} */ o) => o.remaining + o.quantity;
  const name = (/** @type {Order} */ o) => w.user(o === a ? 'A' : 'B');
  const step = (/** @type {Order} */ o, /** @type {string} */ command, reply = '') => (
    { who: name(o), fault: '', backend: 'sql', command, result: '', reply, woke: [], values: [] });
  const steps = b ? [step(a, w.looks, w.reads(found(a))), step(b, w.looks, w.reads(found(b))), step(a, w.writes(a.remaining)), step(b, w.writes(b.remaining))]
    : [step(a, w.takes(a.quantity), w.leaves(a.remaining))];
  return { title: w.drawn, strategy: '', question: '', name: '', stock: found(a), before: [], named: { sql: w.stock }, steps, told: [], problems: [],
    buyers: [a, b].filter(Boolean).map((o) => ({ name: name(o), process: 0 })) };
}

/** Faults that can leave a lock behind, the likeliest first. */
const leaving = ['kill_holder', 'kill_service', 'cut_holder', 'hang_holder', 'pause_holder', 'pause_service'];

/**
 * The fault of the run after which the lane's sale stood still, if there was one.
 * @param {Json.Run} run @param {Json.Lane} lane
 */
function culprit(run, lane) {
  const own = (/** @type {Json.Fault} */ f) => (f.strategy ?? run.lanes[0].strategy) === lane.strategy || !f.effect?.holder;
  const had = run.faults.filter((f) => leaving.includes(f.kind) && f.effect?.took_effect && f.effect.could_matter && own(f));
  return leaving.flatMap((kind) => had.filter((f) => f.kind === kind))[0];
}

/**
 * Who died with what, what waits for it, and what would free it.
 * @param {{run: Json.Run, lane: Json.Lane, family?: string}} props
 */
function Blocked({ run, lane, family = '' }) {
  const w = words().blocked;
  const served = lane.result?.audit?.served;
  const fault = culprit(run, lane);
  if (!served) return null;
  const key = fault?.effect?.holder?.lock_key;
  const parts = [fault ? w.died(fault) : w.unknown, w.waits(served), fault ? (w.frees[family] ?? w.frees.other)(key) : w.lookFor];
  return html`
    <h3>${w.title}</h3>
    <p class="because">${parts.join(t.semicolon)}${t.stop}</p>
    <p class="hint">${w.over(run.settings)}</p>`;
}

/**
 * What a run that held has tried, and what is known to break its strategy.
 * @param {{run: Json.Run, lane: Json.Lane, kinds: Json.FaultKind[], matrix: Json.Matrix | null, row?: Json.Row}} props
 */
function Held({ run, lane, kinds, matrix, row }) {
  const w = words().held;
  const had = met(run, lane).map((f) => kinds.find((k) => k.kind === f.kind)?.question ?? '');
  return html`
    <h3>${w.title}</h3>
    <ul class="tried">${tried(run, lane).map((line) => html`<li key=${line}>${line}</li>`)}</ul>
    ${matrix && row && html`<${Known} had=${had} matrix=${matrix} row=${row} />`}`;
}

/**
 * The faults of the lane that took effect.
 * @param {Json.Run} run @param {Json.Lane} lane
 */
const took = ({ faults }, { strategy }) => faults.filter((f) => f.effect?.took_effect && (!f.strategy || f.strategy === strategy));

/**
 * Those of them that could matter.
 * @param {Json.Run} run @param {Json.Lane} lane
 */
const met = (run, lane) => took(run, lane).filter((f) => f.effect?.could_matter);

/** @param {Json.Run} run @param {Json.Lane} lane @returns {string[]} */
function tried(run, lane) {
  const w = words().held;
  const { settings } = run;
  const { result } = lane;
  const [own, bit] = [took(run, lane), met(run, lane)];
  return [
    w.buyers(t.about.load(settings), result?.targets.length ?? settings.services),
    result?.copies ? w.copies(result.copies) : '', result?.retries ? w.retries(result.retries) : '',
    result?.cancellations?.done ? w.cancelled(result.cancellations.done) : '',
    ...bit.map((f) => w.fault(happened(f), f.at_ms)),
    own.length === 0 ? w.noFault : '', own.length > bit.length ? w.harmless(own.length - bit.length) : '',
  ].filter(Boolean);
}

/**
 * The questions of the matrix that the strategy does not survive, as chips.
 * @param {{had: string[], matrix: Json.Matrix, row: Json.Row}} props had: those that a fault of the run asked, too
 */
function Known({ had, matrix, row }) {
  const w = words().held;
  const cells = matrix.questions.map((q) => ({ q, cell: row.cells[q.id] })).filter(({ cell }) => cell);
  const broken = cells.filter(({ cell }) => cell.answer === 'breaks');
  const count = (/** @type {string} */ mark) => cells.filter(({ cell }) => markOf(cell) === mark).length;
  return html`
    <h3>${broken.length ? w.thisTime : w.breaks}</h3>
    ${broken.length ? html`<ul class="chips">${broken.map(({ q, cell }) => {
    const text = `✗ ${t.guarantees.titleOf(q)}${had.includes(q.id) ? w.had : ''}`;
    return html`<li key=${q.id}>${exampleOf(cell) ? html`<a class="badge bad" href=${link('trace', exampleOf(cell))}>${text}</a>`
      : html`<span class="badge bad">${text}</span>`}</li>`;
  })}</ul>
      <p class="hint">${w.chips}</p>`
    : html`<p>${w.none(count('all'), count('tried'))} <a href=${link('guarantees', '', { cell: row.strategy })}>${w.cells}</a></p>`}`;
}
