// A game as the trace that it has been so far, and its moves by the buyer.

/**
 * The steps so far, for the drawings of the trace screen.
 * @param {Json.Game} game @returns {import('../trace/model.js').Trace}
 */
export function traceOf({ setting, steps, buyers, verdict }) {
  return {
    strategy: setting.strategy, question: '', name: '', stock: setting.stock,
    buyers: setting.buyers.map((b) => ({ name: b.name, process: b.process, quantity: b.quantity, does: b.does, same: b.same, other: b.other })),
    steps: steps.map((s) => ({ who: s.who ?? '', fault: s.fault ?? '', backend: s.backend ?? '', command: s.command ?? '', result: s.result ?? '', reply: s.reply ?? '',
      woke: s.woke ?? [], values: s.values ?? [], background: s.renewer })),
    told: buyers.filter((b) => b.told).map((b) => ({ who: b.name, answer: b.told ?? '' })), problems: verdict?.problems ?? [],
  };
}

/** Follow from an earlier fault, and cost nothing. */
const follows = ['given up by the server', 'arrives late', 'time passes'];

/**
 * What can be done to a buyer now. faults: in the order of the setting.
 * @param {Json.Game} game @param {string} who
 */
export function movesOf(game, who) {
  const own = game.moves.filter((m) => (m.who ?? '') === who);
  return {
    next: own.find((m) => !m.fault && !m.renewer),
    renewer: own.find((m) => !m.fault && m.renewer),
    follow: own.filter((m) => follows.includes(m.fault ?? '')),
    // A lease is nobody's button; where a connection ends in its place, it may be a buyer's.
    faults: game.setting.faults.map((fault) => ({ fault, moves: own.filter((m) => m.fault === fault) }))
      .filter((f) => (f.fault === 'lease ends') === (who === '') || f.fault === 'lease ends' && f.moves.length > 0),
  };
}

