// The texts of a trace, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, plural } from '../ui.js';
import zh from './text/zh.js';

const en = {
  sells: (name, sold, stock) => `${name} sells ${sold} of ${stock}`, breaks: (name, rule) => `${name}: ${rule[0].toLowerCase()}${rule.slice(1)}`, withstands: (name) => `${name} stays right`,
  lesson: 'Its lesson', proof: 'The proof of it', share: 'Save as a page that plays without a lab', others: 'Another one',
  example: 'Another counterexample', choose: 'choose one …',
  live: 'Or a purchase now, in this lab', one: 'One buyer', two: 'Two that race',
  liveHint: 'of a separate product: A wants 2 of 2 units, B wants 1',
  liveTitle: (n, time) => `${n === 1 ? 'One purchase' : 'Two purchases that raced'} at ${time}`,
  download: 'Or:',
  diagramHint: 'Time runs downwards, not to scale. Select a command to see it in full.',
  cut: (n) => `Only the first ${count(n)} commands are kept.`,
  wrong: {
    gone: () => 'The lab no longer has that trace. Record another.',
    unknown: (name) => `There is no counterexample “${name}”. Choose one from the list.`,
  },
  who: (name) => (name === 'next' ? 'next' : name),
  process: (n) => `in process ${count(n)}`,
  toStart: 'To the start (Home)', back: 'One step back (←)', forth: 'One step forward (→)', toEnd: 'To the end (End)',
  play: 'Play', pause: 'Pause', position: 'Step',
  at: (n, all) => `${n === 0 ? 'Before the first step' : `Step ${count(n)}`} of ${count(all)}`,
  faults: {
    'lease ends': 'lease ends', dies: 'dies', leaves: 'leaves', panics: 'panics', 'id taken': 'id is taken', 'given up by the server': 'given up', 'reply lost': 'reply lost',
    'command lost': 'command lost', refused: 'Redis refuses', 'a node is lost': 'node lost', 'time passes': 'time passes', delayed: '✉ on its way', 'arrives late': '✉ arrives late',
    'clock jumps': 'clock jumps',
  },
  faultHints: {
    'lease ends': 'The server ends the lease. The holder is paused and does not know.',
    dies: 'The buyer’s process dies before its next command, without any clean-up, and everyone in it with it.',
    leaves: 'The buyer closes their connection, or their time is up. Their process lives on.',
    'id taken': 'Another process has made the same id in the same microsecond: the last order that the command is to write finds it taken.',
    panics: 'The code that serves the buyer panics in place of the command. Their process recovers and lives on.',
    'given up by the server': 'The server gives up the session or lease of a process that has died.',
    'reply lost': 'The command takes effect, and the buyer sees an error.',
    'command lost': 'The command never arrives, and the buyer sees an error.',
    refused: 'Redis refuses one command, also in the middle of a script, and keeps what the script has written.',
    'clock jumps': 'The clock of the buyer’s process jumps ahead by more than a lease. The servers’ clocks do not.',
    'a node is lost': 'One server of the backend is gone.',
    'time passes': 'No actor can continue until the clocks advance.',
    delayed: 'The command was sent and is delayed. Its sender gets no answer in time, cleans up and continues; the command is still on its way.',
    'arrives late': 'The delayed command reaches its server now, and takes effect. Its sender has already moved on.',
  },
  waitsHint: 'it waits in the server', woke: (who) => `${who} continues`, renewerHint: 'the lock’s renewer acts, concurrently with the buyer whose lock it renews',
  /** Steps that are not server commands. */
  commands: {
    'works under the lock': 'works under the lock', 'its time has come': 'the time to renew has come', "wait: the lock's renewer": 'waits for its renewer',
  },
  /**
   * Events that are not commands, as patterns.
   * @type {[RegExp, string][]}
   */
  events: [],
  results: { waits: 'waits', 'is delayed': 'no answer in time', 'gives up: nothing will ever wake them': 'gives up: nothing will ever wake them' },
  /** Describes what an actor of a scenario does. */
  does(b) {
    const units = b.quantity ? ` ${count(b.quantity)}` : '';
    const doing = {
      buys: `buys${units}`, cancels: b.same ? `cancels ${b.same}’s order, too` : `cancels an order${units ? ` of${units}` : ''}`,
      asks: b.same ? `sends a copy of ${b.same}’s request, with the same idempotency key` : `asks the service for${units || ' units'}, with an idempotency key`,
      accepts: `buys${units}, and does not wait for the order`,
      locks: 'takes the lock and releases it', pays: `pays ${b.same ? `${b.same}’s` : 'a'} reservation`,
      releases: `cancels ${b.same ? `${b.same}’s` : 'a'} reservation`, sweeps: 'has the deadline pass, and sweeps',
      restocks: `adds${units || ' units'} to the stock`, resets: 'resets the sale', starts: 'starts the sale', forgets: 'has Redis lose its data', 'comes later': `comes while others are at work, and buys${units}`,
      'asks again': `has an order of${units}, and sends that request again`,
      'asks to reserve': `asks the service to reserve${units}${b.same ? `, with the key of ${b.same}’s request` : ''}`,
    }[b.does] ?? b.does;
    return [doing, b.other && 'of another SKU', b.process > 0 && this.process(b.process + 1),
      b.again > 0 && `retries without a final answer (${count(b.again)}×)`].filter(Boolean).join(', ');
  },
  renewals: (n) => `renewers may act, at most ${plural(n, 'time')}`, next: 'comes when all are done',
  result: 'Result', ok: 'ok', reply: (text) => text,
  short: (name) => (name === 'stock.num' ? 'stock' : name.replace(/^seckill:lock:stock:\d+/, 'lock').replace(/^seckill:stock:\d+/, 'counter').replace(/^seckill:stream:\d+/, 'stream').replace(/^\/seckill\/locks\/stock-\d+/, 'queue')),
  took: (at, took) => `at ${at.toFixed(2)} ms, took ${took.toFixed(2)} ms`,
  beliefs: 'What the buyers know',
  read: (n) => `read ${n}`, readOld: (n) => `read ${n}: no longer true`, will: (n) => `will write ${n}`, wrote: (n) => `wrote ${n}`,
  holds: 'holds the lock', thinksItHolds: 'thinks it holds the lock',
  bars: { stale: 'the buyer thinks it holds the lock, and the servers say otherwise', held: 'from the moment the buyer learns that it has the lock until it releases it', key: 'the lock’s key, node or record, as this buyer wrote it', row: 'rows (or a named lock) that the buyer’s session has locked',
    waits: 'the buyer waits for the server’s answer', flight: 'a command on its way: sent, but not yet arrived' },
  /** In the diagram. */
  story: { again: (n) => `the same again, ${n === 1 ? 'once' : `${count(n)} times`}`, times: (n) => `${count(n)} ×`, rest: (n) => plural(n, 'more step'),
    name: (strategy, question) => `${strategy}${question && ` · ${question}`}: who sent what to which server, and what came back`,
    to: (who, server) => `${who} to ${server}`, answers: (server, who) => `${server} answers ${who}`, done: 'done' },
  state: 'In the database now', row: (stock) => `in the stock row, of ${plural(stock, 'unit')}`, nothing: 'nothing',
  broken: 'Broken', unbroken: 'Nothing broke', told: 'What the buyers were told',
  guess: { title: 'Predict first', asks: 'What does the server answer?', right: 'Right.', wrong: (a) => `No: ${a}`, next: 'Go on' }, speed: 'Speed',
};

export const words = chosenOf(en, zh);
