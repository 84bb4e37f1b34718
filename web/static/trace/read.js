// Makes a trace of a counterexample, as `seckill prove` writes it (explore.Example in Go).

const renewerMark = /^\(renewer\) /; // before a command of a lock's renewer

/** @param {any} example @returns {import('./model.js').Trace} */
export function readExample({ strategy, question = '', scenario, steps: taken, held, told, problems }) {
  const steps = taken.map(readStep);
  return {
    strategy, question, steps, name: scenario.name ?? '', stock: scenario.stock, renewals: scenario.renewals ?? 0,
    buyers: scenario.buyers.map((b) => ({ name: b.name, quantity: b.quantity ?? 0, process: b.process ?? 0, does: b.does ?? '', same: b.same ?? '', again: b.again ?? 0, other: b.other === true })),
    beliefs: (held ?? []).map((h) => readBelief(h, steps)),
    told: told ?? [], problems: problems ?? [],
  };
}

/** @param {any} step @returns {import('./model.js').Step} */
const readStep = ({ who = '', fault = '', backend = '', command = '', result = '', reply = '', woke, values, renewer }) => ({
  who, fault, backend, command: command.replace(renewerMark, ''), result, reply, woke: woke ?? [], values: values ?? [],
  background: renewer === true || renewerMark.test(command),
});

/** @param {any} belief @param {import('./model.js').Step[]} steps @returns {import('./model.js').Belief} */
function readBelief({ who, from, to }, steps) {
  const died = steps.findIndex((s, i) => s.who === who && s.fault === 'dies' && i > from);
  return { who, from, to: to ?? (died < 0 ? steps.length - 1 : died) };
}
