// The texts of the levels, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, plural } from '../ui.js';
import zh from './text/zh.js';

const en = {
  title: 'You are the scheduler',
  what: 'It is midnight, the sale is on, and you decide whose turn it is. Each buyer is stopped before their next command. You decide whose command runs, on real servers, and when something fails. '
    + 'No time passes while you think. At the end the judge reads the ledger.',
  levels: 'Levels', chapter: (n, title) => `Chapter ${count(n)}${title && ` · ${title}`}`, noChapter: 'More',
  solved: (n, all) => `${count(n)} of ${plural(all, 'level')} solved`, done: 'solved',
  noLevels: 'This lab has no levels.', number: (n) => `Level ${count(n)}`,
  all: '← All levels', nextLevel: (title) => `Next: ${title}`,
  impossibleSale: 'Free play has 2 or 3 buyers, and a stock of 1 to 100 units. Choose them below.', unknown: (name) => `There is no level “${name}”. Choose one from the list.`,
  free: 'Free play', freeHint: 'Any strategy that runs here, without a task.',
  strategy: 'Strategy', buyers: 'Buyers', stock: 'Stock', begin: 'Play',
  lesson: 'Its lesson',

  hint: 'Hint',
  setting: (buyers, stock, faults) => `${plural(buyers, 'buyer')}, ${plural(stock, 'unit')}${faults ? `, up to ${plural(faults, 'fault')}` : ', no faults'}`,
  opening: 'Setting up the sale …',
  columns: 'Buyers', process: (n) => `process ${count(n)}`,
  does(b) {
    return ({
      buys: `wants ${plural(b.quantity, 'unit')}`, cancels: b.same ? `cancels ${b.same}’s order` : 'cancels an order',
      locks: 'takes the lock, works, and frees it', pays: b.same ? `pays ${b.same}’s reservation` : 'pays a reservation',
      releases: b.same ? `cancels ${b.same}’s reservation` : 'cancels a reservation', sweeps: 'sweeps what is overdue',
    }[b.does] ?? b.does) + (b.other ? ' of another SKU' : '');
  },
  states: { ready: 'ready', waits: 'waits', backs_off: 'will try again', done: 'done', dead: 'dead' },
  run: (who, server) => `${who} sends${server ? ` to ${server}` : ''}`,
  waitsIn: (server) => (server ? `No answer from ${server} yet` : 'No answer yet'),
  backsOff: 'Waits without a command, and tries again after another buyer has changed something',
  heldBy: (names) => `${names} has it`,
  told: 'Was told', died: 'Their process has died.',
  outcomes: {
    sold: 'sold', sold_out: 'sold out', busy: 'busy, try again', duplicate: 'has an order already', conflict: 'conflict, try again',
    error: 'refused', expired: 'too late', unknown: 'does not know whether they bought', died: 'nothing: they died', done: 'done',
  },
  holds: 'holds the lock', expired: 'its lease has ended, unnoticed',
  renewer: (who) => `${who}’s renewer`, late: (who) => `✉ ${who}’s delayed command arrives`,
  faultsOf: (who) => `Faults for ${who}`, faults: 'Faults', budget: (left, all) => `${count(left)} of ${plural(all, 'fault')} left`,
  /** The buttons of faults. */
  does_fault: {
    'lease ends': 'The lease of the lock ends', dies: 'Kill the process', 'given up by the server': 'The servers give them up', leaves: 'Disconnect',
    'reply lost': 'Lose the reply', 'command lost': 'Lose the command', delayed: 'Delay the command', 'arrives late': 'It arrives',
    'clock jumps': 'The clock jumps ahead', 'time passes': 'Time passes',
  },
  closes: 'The server closes the connection',
  notNow: 'not possible now', spent: 'no fault is left',
  everyone: 'For all',

  undo: 'Undo', again: 'From the start', share: 'Copy the link',
  impossible: 'It cannot be done', impossibleHint: 'Say this when no schedule does what the level asks for.',
  keys: 'Keys: A, B, C run a buyer’s command, U takes the last move back, ← and → look at earlier steps.',
  moves: (n, switches) => `${plural(n, 'move')}, ${plural(switches, 'switch', 'switches')}`,
  switchHint: 'A switch takes the turn from a buyer who could go on.',

  course: 'So far', empty: 'Nothing has happened yet. Press a buyer’s command.', looking: (n, all) => `You look at step ${count(n)} of ${count(all)}.`,
  beginning: 'You look at the state before the first step.', present: 'Back to now',

  /** The verdict. */
  sold: (v) => (v.sold > v.stock ? `You sold ${count(v.sold)} of ${count(v.stock)}` : v.told > v.sold ? `Buyers were told they have ${plural(v.told, 'unit')}, and the orders say ${count(v.sold)}`
    : v.broken ? 'You broke a promise' : `You sold ${count(v.sold)} of ${count(v.stock)}, and nothing broke`),
  left: (v) => `${plural(v.left, 'unit')} left in the ledger.`,
  judge: 'The judge says', toldTitle: 'What the buyers were told',
  stars: (n, all) => `${count(n)} of ${plural(all, 'star')}`, hard: { easy: 'easy', medium: 'medium', hard: 'hard' },
  continue: 'Continue', offerHint: 'Would a hint help?',
  recorded: ({ recorded, servers, turns, whole }) => `Real servers answered this on ${recorded}: ${servers.join(', ')}. ${whole ? 'Every move was recorded.'
    : `Recorded: the known solution, and what has at most ${plural(turns, 'fault or interruption', 'faults and interruptions')} beside it.`}`,
  first: 'Press the button with A’s command: it runs on the database. Then look at the stock beside the buyers, and decide who goes next.',
  over: 'That was the last one: no sale of this kind can surprise you any more. Free play has every strategy.',
  won: 'Solved', notWon: 'Not yet: that is not what the level asks for.', tryAgain: 'Undo some moves, or begin again.',
  rightImpossible: (n) => `Right: it cannot be done.${n > 0 ? ` The explorer ran every schedule that could make a difference: ${count(n)}.` : ''}`, wrongImpossible: 'It can be done: that costs a star. The game goes on.',
  yours: (n) => `Yours: ${plural(n, 'move')}. `, best: (n) => `Best known: ${plural(n, 'move')}.`,

  /** For screen readers. */
  says: {
    ran: (who, what, reply) => `${who}: ${what}${reply ? `, ${reply}` : ''}.`, waits: (who, why) => `${who} waits${why ? `: ${why}` : ''}.`,
    goesOn: (who) => `${who} continues.`, told: (who, what) => `${who} was told: ${what}.`, back: (n) => `Taken back. ${plural(n, 'move')} so far.`,
    begun: 'The game has begun.', now: (n) => `The game stands after ${plural(n, 'move')}.`,
  },
};

export const words = chosenOf(en, zh);
